// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/warnings.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "base/testing/test_clock.h"
#include "coxswain/client.h"
#include "sdk/testing/fake_transport.h"

namespace cox::sdk {
namespace {

class Lines final : public LogSink {
 public:
  void Write(std::string_view line) override { text_ += line; }
  size_t Count(std::string_view what) const {
    size_t count = 0;
    for (size_t at = text_.find(what); at != std::string::npos; at = text_.find(what, at + 1)) {
      ++count;
    }
    return count;
  }

 private:
  std::string text_;
};

TEST(WarningsTest, ParsesWarningHeaders) {
  EXPECT_EQ(WarningText(R"(299 - "a \"b\" \\ c")"), R"(a "b" \ c)");
  EXPECT_EQ(WarningText(R"(299 kube-apiserver "x" "Wed, 21 Oct 2015 07:28:00 GMT")"), "x");
  for (const char* other : {"", "299", "299 - x", R"(199 - "x")", R"(2999 - "x")"}) {
    EXPECT_EQ(WarningText(other), "") << other;
  }
  EXPECT_LE(WarningText("299 - \"" + std::string(100'000, 'x')).size(), 1024u);
}

TEST(WarningsTest, LogsEachWarningOnce) {
  TestClock clock;
  Lines lines;
  Logging logging(clock, LogFormat::kText, lines);
  Context ctx(clock, logging.For(""));
  FakeResponse answer = FakeResponse::Json(R"({"kind":"ConfigMap","apiVersion":"v1"})");
  answer.headers.Add("warning", "299 - \"first\"");
  answer.headers.Add("warning", "299 - \"second\"");
  const auto client = MakeClient(std::make_shared<FakeTransport>(std::vector{answer}));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client->Get<core::v1::ConfigMap>(ctx, {"d", "a"}).ok());
  }
  EXPECT_EQ(lines.Count("first"), 1u);
  EXPECT_EQ(lines.Count("second"), 1u);

  Warnings warnings;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3000; ++i) {
      warnings.Note(ctx, {{"warning", "299 - \"many " + std::to_string(i) + "\""}});
    }
  }
  EXPECT_EQ(lines.Count("many"), 6000u) << "remembers a bounded number";
}

}  // namespace
}  // namespace cox::sdk
