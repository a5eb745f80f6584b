// SPDX-License-Identifier: Apache-2.0
#include "storage/continue_token.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace cox::storage {
namespace {

constexpr std::string_view kPrefix = "/registry/pods/ns/";

TEST(ContinueToken, RoundTripsThroughEncodeAndDecode) {
  const ContinueToken cases[] = {
      {1, "/registry/pods/ns/a"},
      {-1, "/registry/pods/ns/quote\"d"},
      {9'000'000'000'000, std::string("/registry/pods/ns/end\0", 22)},
  };
  for (const ContinueToken& token : cases) {
    Result<ContinueToken> back = ContinueToken::Decode(token.Encode(kPrefix), kPrefix);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back->revision, token.revision);
    EXPECT_EQ(back->start, token.start);
  }
}

TEST(ContinueToken, EncodesTheSameJsonAsUpstream) {
  const ContinueToken token{5, std::string(kPrefix) + "web"};
  EXPECT_EQ(base64::DecodeUrl(token.Encode(kPrefix)),
            R"({"v":"meta.k8s.io/v1","rv":5,"start":"web"})");
}

TEST(ContinueToken, DecodeRejectsInvalidTokens) {
  auto token = [](std::string_view json) { return base64::EncodeUrl(json); };
  const struct {
    std::string text, want;
  } kCases[] = {
      {"!!!", "continue key is not valid: illegal base64 data"},
      {token(R"({"v":"v2","rv":1,"start":"a"})"),
       "continue key is not valid: server does not recognize this encoded version v2"},
      {token(R"({"rv":1,"start":"a"})"),
       "continue key is not valid: server does not recognize this encoded version "},
      {token(R"({"v":"meta.k8s.io/v1","rv":0,"start":"a"})"),
       "continue key is not valid: incorrect encoded start resourceVersion (version "
       "meta.k8s.io/v1)"},
      {token(R"({"v":"meta.k8s.io/v1","rv":1,"start":""})"),
       "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"},
      {token(R"({"v":"meta.k8s.io/v1","rv":1})"),
       "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"},
  };
  for (const auto& c : kCases) {
    const Status status = ContinueToken::Decode(c.text, kPrefix).status();
    EXPECT_EQ(status.message(), c.want);
    EXPECT_EQ(status.code(), 400);
  }
  EXPECT_FALSE(ContinueToken::Decode(token("no json"), kPrefix).ok());
}

TEST(ContinueToken, DecodeRejectsKeysOutsideOfThePrefix) {
  for (std::string_view start : {"../other/a", "a/../../x", "..", "a/.."}) {
    const std::string text =
        base64::EncodeUrl(R"({"v":"meta.k8s.io/v1","rv":1,"start":")" + std::string(start) + "\"}");
    EXPECT_FALSE(ContinueToken::Decode(text, kPrefix).ok()) << start;
  }
  // A leading slash is dropped, because the prefix ends with one.
  const std::string text = base64::EncodeUrl(R"({"v":"meta.k8s.io/v1","rv":1,"start":"/a"})");
  EXPECT_EQ(ContinueToken::Decode(text, kPrefix)->start, "/registry/pods/ns/a");
}

}  // namespace
}  // namespace cox::storage
