// SPDX-License-Identifier: Apache-2.0
#include "base/log_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/strings.h"
#include "base/testing/test_clock.h"

namespace cox {
namespace {

using std::chrono::microseconds;
using std::string_literals::operator""s;

constexpr LogFormat kText = LogFormat::kText;
constexpr LogFormat kJson = LogFormat::kJson;

std::string Line(LogFormat format, LogRecord record, const std::vector<LogField>& fields = {}) {
  record.time = TestClock::kStart + microseconds(123456);  // 2030-01-02 03:04:05.123456
  record.thread = 12345;
  record.site = {"/src/net/server.cc", 12};
  record.fields = fields;
  std::string out;
  AppendLogLine(out, format, record);
  return out;
}

TEST(LogFormat, TextMatchesKlog) {
  EXPECT_EQ(Line(kText, {.message = "Started"}),
            "I0102 03:04:05.123456   12345 server.cc:12] \"Started\"\n");
  EXPECT_EQ(Line(kText, {.severity = LogSeverity::kWarning, .message = "Slow"}),
            "W0102 03:04:05.123456   12345 server.cc:12] \"Slow\"\n");
  const Status boom = Status::Internal("boom \"x\"");
  EXPECT_EQ(
      Line(kText,
           {.severity = LogSeverity::kError, .logger = "api", .error = &boom, .message = "Failed"},
           {{"k", "v"}}),
      "E0102 03:04:05.123456   12345 server.cc:12] \"Failed\" err=\"InternalError: boom "
      "\\\"x\\\"\" "
      "logger=\"api\" k=\"v\"\n");
}

TEST(LogFormat, JsonMatchesUpstream) {
  EXPECT_EQ(
      Line(kJson, {.message = "Started"}),
      "{\"ts\":1893553445123.456,\"caller\":\"net/server.cc:12\",\"msg\":\"Started\",\"v\":0}\n");
  EXPECT_EQ(Line(kJson, {.verbosity = 4, .logger = "api", .message = "Looked"}, {{"n", 1}}),
            "{\"ts\":1893553445123.456,\"logger\":\"api\",\"caller\":\"net/server.cc:12\","
            "\"msg\":\"Looked\",\"v\":4,\"n\":1}\n");
  const Status boom = Status::Internal("boom");
  EXPECT_EQ(
      Line(kJson, {.severity = LogSeverity::kError, .error = &boom, .message = "Failed"},
           {{"k", "v"}}),
      "{\"ts\":1893553445123.456,\"caller\":\"net/server.cc:12\",\"msg\":\"Failed\",\"k\":\"v\","
      "\"err\":\"InternalError: boom\"}\n");
}

TEST(LogFormat, FormatsValuesOfEveryType) {
  const Status missing = Status::NotFound("no such pod");
  const std::string text = "plain";
  const double inf = std::numeric_limits<double>::infinity();
  struct Case {
    LogValue value;
    std::string text;
    std::string json;
  };
  const std::vector<Case> cases = {
      {true, "true", "true"},
      {false, "false", "false"},
      {6443, "6443", "6443"},
      {std::numeric_limits<int64_t>::min(), "-9223372036854775808", "-9223372036854775808"},
      {std::numeric_limits<uint64_t>::max(), "18446744073709551615", "18446744073709551615"},
      {uint8_t{7}, "7", "7"},
      {1.5, "1.5", "1.5"},
      {0.1f + 0.4f, "0.5", "0.5"},
      {2.0, "2", "2"},
      {1e21, "1e+21", "1e+21"},
      {inf, "+Inf", "\"+Inf\""},
      {std::numeric_limits<double>::quiet_NaN(), "NaN", "\"NaN\""},
      {"plain", "\"plain\"", "\"plain\""},
      {text, "\"plain\"", "\"plain\""},
      {std::string_view("pla"), "\"pla\"", "\"pla\""},
      {"", "\"\"", "\"\""},
      {nullptr, "null", "null"},
      {static_cast<const char*>(nullptr), "null", "null"},
      {std::chrono::milliseconds(1500), "\"1.5s\"", "\"1.5s\""},
      {std::chrono::seconds(0), "\"0s\"", "\"0s\""},
      {missing, "\"NotFound: no such pod\"", "\"NotFound: no such pod\""},
      {"é世", "\"é世\"", "\"é世\""},
      {Redacted{}, "\"[REDACTED]\"", "\"[REDACTED]\""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(RenderLogField(kText, {"k", c.value}).text, "k=" + c.text);
    EXPECT_EQ(RenderLogField(kJson, {"k", c.value}).text, "\"k\":" + c.json);
  }
}

TEST(LogFormat, SecretsAreRedacted) {
  const Secret<std::string> token("hunter2");
  for (LogFormat format : {kText, kJson}) {
    const std::string line = Line(format, {.message = "Login"}, {{"token", token}});
    EXPECT_THAT(line, testing::HasSubstr("[REDACTED]"));
    EXPECT_THAT(line, testing::Not(testing::HasSubstr("hunter2")));
  }
  EXPECT_EQ(token.Reveal(), "hunter2");
}

TEST(LogFormat, EscapesControlCharacters) {
  struct Case {
    std::string value;
    std::string text;
    std::string json;
  };
  const std::vector<Case> cases = {
      {"a\nE0102 forged", R"("a\nE0102 forged")", R"("a\nE0102 forged")"},
      {"a\r\tb", R"("a\r\tb")", R"("a\r\tb")"},
      {"x\x01\x7f\x1b[31m", R"("x\x01\x7f\x1b[31m")", R"("x\u0001\u007f\u001b[31m")"},
      {"a\"b\\c", R"("a\"b\\c")", R"("a\"b\\c")"},
      {"nul\0l"s, R"("nul\x00l")", R"("nul\u0000l")"},
      {"\xff\xc3", R"("\xff\xc3")", R"("\ufffd\ufffd")"},
      {"\u009b31m\u2028\u202e", R"("\u009b31m\u2028\u202e")", R"("\u009b31m\u2028\u202e")"},
      {"\U000e0001", R"("\U000e0001")", R"("\udb40\udc01")"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(RenderLogField(kText, {"k", c.value}).text, "k=" + c.text);
    EXPECT_EQ(RenderLogField(kJson, {"k", c.value}).text, "\"k\":" + c.json);
    for (LogFormat format : {kText, kJson}) {
      const std::string line =
          Line(format, {.logger = c.value, .message = c.value}, {{c.value, c.value}});
      EXPECT_EQ(line.find('\n'), line.size() - 1) << Quote(line);
    }
  }
}

TEST(LogFormat, UnusualKeysAreQuoted) {
  EXPECT_EQ(RenderLogField(kText, {"k y", 1}).text, "\"k y\"=1");
  EXPECT_EQ(RenderLogField(kText, {"", 1}).text, "\"\"=1");
  EXPECT_EQ(RenderLogField(kText, {"a=b", 1}).text, "\"a=b\"=1");
  EXPECT_EQ(RenderLogField(kJson, {"a\"b", 1}).text, "\"a\\\"b\":1");
}

TEST(LogFormat, LongStringsAreTruncated) {
  const std::string huge(kMaxLogValueBytes + 5, 'x');
  for (LogFormat format : {kText, kJson}) {
    const std::string text = RenderLogField(format, {"k", huge}).text;
    EXPECT_LT(text.size(), kMaxLogValueBytes + 64);
    EXPECT_THAT(text, testing::HasSubstr("... (5 bytes more)"));
  }
  const std::string just_fits(kMaxLogValueBytes, 'x');
  EXPECT_EQ(RenderLogField(kText, {"k", just_fits}).text, "k=\"" + just_fits + "\"");
}

TEST(LogFormat, LoggerFieldsComeFirstUnlessReplaced) {
  const std::vector<RenderedField> with = {RenderLogField(kText, {"a", 1}),
                                           RenderLogField(kText, {"b", 2})};
  EXPECT_THAT(Line(kText, {.message = "M", .with = with}, {{"a", 3}}),
              testing::EndsWith("\"M\" b=2 a=3\n"));
}

TEST(LogFormat, CallerIsTheEndOfThePath) {
  struct Case {
    std::string_view file;
    std::string text;
    std::string json;
  };
  for (const Case& c : std::vector<Case>{{"main.cc", "main.cc:1", "main.cc:1"},
                                         {"net/server.cc", "server.cc:1", "net/server.cc:1"},
                                         {"/main.cc", "main.cc:1", "/main.cc:1"},
                                         {"/a/b/c/d.cc", "d.cc:1", "c/d.cc:1"},
                                         {"", ":1", ":1"}}) {
    LogRecord record;
    record.site = {c.file, 1};
    std::string text, json;
    AppendLogLine(text, kText, record);
    AppendLogLine(json, kJson, record);
    EXPECT_THAT(text, testing::HasSubstr(" " + c.text + "] "));
    EXPECT_THAT(json, testing::HasSubstr("\"caller\":\"" + c.json + "\""));
  }
}

TEST(LogFormat, FormatsTimesBeforeEpochAndLargeThreadIds) {
  LogRecord record;
  record.time = Clock::WallTime(microseconds(-1));
  record.thread = 123456789;
  record.site = {"a.cc", 1};
  std::string out;
  AppendLogLine(out, kText, record);
  EXPECT_EQ(out, "I1231 23:59:59.999999 123456789 a.cc:1] \"\"\n");
}

}  // namespace
}  // namespace cox
