// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/oidc/issuer_keys.h"

#include <gtest/gtest.h>

#include <map>

#include "base/testing/test_clock.h"

namespace cox::apiserver {
namespace {

constexpr char kConfiguration[] = "https://a.example/x/.well-known/openid-configuration";

class IssuerKeysTest : public ::testing::Test {
 protected:
  ~IssuerKeysTest() override { ctx_.Stop(); }

  void Serve(const std::string& url, const std::string& text) {
    MutexLock lock(mu_);
    documents_[url] = text;
  }
  IssuerKeys::Fetch Fetch() {
    return [this](const Context&, const std::string& url) -> Result<std::string> {
      MutexLock lock(mu_);
      ++fetches_[url];
      const auto at = documents_.find(url);
      if (at == documents_.end()) return Status::Unavailable("nobody answers");
      return at->second;
    };
  }
  int FetchesOf(const std::string& url) {
    MutexLock lock(mu_);
    return fetches_[url];
  }

  TestClock clock_;
  Context ctx_{clock_};
  Mutex mu_;
  std::map<std::string, std::string> documents_ COX_GUARDED_BY(mu_);
  std::map<std::string, int> fetches_ COX_GUARDED_BY(mu_);
};

TEST_F(IssuerKeysTest, ReadIsRetriedUntilIssuerResponds) {
  IssuerKeys keys(ctx_, "https://a.example/x", "", Fetch());
  clock_.WaitForTimers(1);  // the first attempt has failed
  EXPECT_EQ(keys.Current(), nullptr);
  EXPECT_EQ(keys.Refresh(ctx_), nullptr) << "asked a moment ago: does not wait";
  Serve(kConfiguration, R"({"issuer":"https://a.example/x","jwks_uri":"https://b.example/k"})");
  Serve("https://b.example/k", R"({"keys":[]})");
  while (keys.Current() == nullptr) {
    clock_.WaitForTimers(1);
    clock_.Advance(IssuerKeys::kRetry);
  }
  EXPECT_EQ(FetchesOf("https://b.example/k"), 1);
}

TEST_F(IssuerKeysTest, ConfigurationOfAnotherIssuerIsRejected) {
  for (const char* text : {
           R"({"issuer":"https://evil.example","jwks_uri":"https://b.example/k"})",
           R"({"issuer":"https://a.example/x","jwks_uri":"http://b.example/k"})",
           R"({"issuer":"https://a.example/x"})",
           "<html>",
       }) {
    Serve(kConfiguration, text);
    Serve("https://b.example/k", R"({"keys":[]})");
    IssuerKeys keys(ctx_, "https://a.example/x", "", Fetch());
    EXPECT_EQ(keys.Refresh(ctx_), nullptr) << text;
  }
  EXPECT_EQ(FetchesOf("https://b.example/k"), 0);
  EXPECT_EQ(FetchesOf("http://b.example/k"), 0);
}

TEST_F(IssuerKeysTest, DiscoveryUrlMayDifferFromIssuer) {
  Serve("https://inside.example/conf",
        R"({"issuer":"https://a.example/x","jwks_uri":"https://b.example/k"})");
  Serve("https://b.example/k", R"({"keys":[]})");
  IssuerKeys keys(ctx_, "https://a.example/x", "https://inside.example/conf", Fetch());
  EXPECT_NE(keys.Refresh(ctx_), nullptr);
}

}  // namespace
}  // namespace cox::apiserver
