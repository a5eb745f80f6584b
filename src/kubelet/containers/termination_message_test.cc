// SPDX-License-Identifier: Apache-2.0
#include "kubelet/containers/termination_message.h"

#include <gtest/gtest.h>

#include "kubelet/testing/test_folder.h"
#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using testing::Exited;
using testing::MakePod;

class TerminationMessageTest : public ::testing::Test {
 protected:
  TerminationMessageTest() {
    options_.root_dir = root_.path();
    options_.pod_logs_dir = root_ / "logs";
  }
  std::string Message(int code, const core::v1::PodStatus& told = {}) {
    auto state = testing::RunningSandbox();
    state.containers = {Exited("c", code, 1)};
    AddTerminationMessages(options_, pod_, told, state);
    return state.containers[0].message;
  }

  const testing::TestFolder root_;
  Options options_;
  core::v1::Pod pod_ = MakePod(
      R"({"containers":[{"name":"c","terminationMessagePolicy":"FallbackToLogsOnError"}]})");
};

TEST_F(TerminationMessageTest, UsesFileElseLogTailOfFailure) {
  root_.Write("logs/default_web_u1/c/1.log",
              "2026-01-01T00:00:00Z stdout F one\n2026-01-01T00:00:01Z stderr F two words\n");
  EXPECT_EQ(Message(1), "one\ntwo words\n");
  EXPECT_EQ(Message(0), "");
  root_.Write("pods/u1/containers/c/1", "said");
  EXPECT_EQ(Message(1), "said");
  EXPECT_EQ(Message(0), "said");
  root_.Write("pods/u1/containers/c/1", std::string(5000, 'x') + "end");
  EXPECT_EQ(Message(0).size(), 4096U);
  EXPECT_TRUE(Message(0).ends_with("xend"));
}

TEST_F(TerminationMessageTest, KeepsReportedMessageWhenFileIsRemoved) {
  const auto told = MakePod("{}", R"({"containerStatuses":[{"name":"c","state":{"terminated":
      {"containerID":"containerd://c1","message":"before"}}}]})");
  EXPECT_EQ(Message(1, told.status), "before");
}

TEST_F(TerminationMessageTest, SymlinksAreNotFollowed) {
  root_.Write("secret", "s");
  root_.Link(root_ / "secret", "pods/u1/containers/c/1");
  EXPECT_EQ(Message(1), "");
}

// One record of a log.
std::string Record(std::string_view stream, std::string_view tag, std::string_view text) {
  return "2026-01-01T00:00:00.000000000Z " + std::string(stream) + " " + std::string(tag) + " " +
         std::string(text) + "\n";
}
std::string Out(std::string_view tag, std::string_view text) { return Record("stdout", tag, text); }
std::string Err(std::string_view tag, std::string_view text) { return Record("stderr", tag, text); }

TEST(LogTailTest, HasExactlyTheLineEndsThatWereWritten) {
  const struct {
    std::string name;
    std::string log;
    std::string want;
  } cases[] = {
      {"no output", "", ""},
      {"full lines", Out("F", "one") + Out("F", "two words"), "one\ntwo words\n"},
      {"empty lines", Out("F", "") + Out("F", "") + Out("F", "x"), "\n\nx\n"},
      {"spaces", Out("F", "  x  "), "  x  \n"},
      {"no line end at the end", Out("P", "DONE"), "DONE"},
      {"no line end after full lines", Out("F", "one") + Out("P", "two"), "one\ntwo"},
      {"a line in chunks", Out("P", "a") + Out("P", "b") + Out("F", "c"), "abc\n"},
      {"chunks without a line end", Out("P", "a") + Out("P", "b"), "ab"},
      {"an empty last chunk", Out("P", "a") + Out("F", ""), "a\n"},
      {"two lines in chunks", Out("P", "a") + Out("F", "b") + Out("P", "c") + Out("F", "d"),
       "ab\ncd\n"},
      {"both streams in the order of the log", Out("F", "o") + Err("F", "e"), "o\ne\n"},
      {"streams interleave within lines",
       Out("P", "o") + Err("P", "e") + Out("F", "O") + Err("F", "E"), "oeO\nE\n"},
      {"further tags", Out("P:x", "a") + Out("F:x:y", "b"), "ab\n"},
      {"CRLF", Out("F", "one\r") + Out("P", "two\r"), "one\r\ntwo\r"},
      {"text that has the form of a record", Out("F", "2026-01-01T00:00:00.000000000Z stdout P x"),
       "2026-01-01T00:00:00.000000000Z stdout P x\n"},
      {"text that is not UTF-8", Out("P", "\xff\xfe"), "\xff\xfe"},
  };
  for (const auto& c : cases) EXPECT_EQ(LogTail(c.log), c.want) << c.name;
}

// A crash of the node truncates the last record anywhere.
TEST(LogTailTest, LastRecordMayBeCutOff) {
  const std::string whole = Out("F", "one");
  const std::string last = Out("F", "two words");
  const size_t text = last.find("two");
  for (size_t length = 0; length < last.size(); ++length) {
    const std::string want = length > text ? last.substr(text, length - text) : "";
    EXPECT_EQ(LogTail(whole + last.substr(0, length)), "one\n" + want) << length;
    EXPECT_EQ(LogTail(last.substr(0, length)), want) << length;
  }
}

TEST(LogTailTest, OtherLinesAreSkipped) {
  EXPECT_EQ(LogTail("\nx\na b c d e\n2026-01-01T00:00:00.000000000Z stdin F x\n"
                    "2026-01-01T00:00:00.000000000Z stdout X x\n" +
                    Out("F", "one")),
            "one\n");
}

TEST(LogTailTest, IsLimitedInRecordsAndBytes) {
  std::string log;
  for (int i = 0; i < 100; ++i) log += Out("F", std::to_string(i));
  EXPECT_TRUE(LogTail(log).starts_with("20\n21\n"));
  EXPECT_TRUE(LogTail(log).ends_with("98\n99\n"));
  log.clear();
  for (int i = 0; i < 100; ++i) log += Out("P", "<" + std::to_string(i) + ">");
  EXPECT_TRUE(LogTail(log).starts_with("<20><21>"));
  EXPECT_TRUE(LogTail(log).ends_with("<98><99>"));
  for (const size_t size : {2046U, 2047U, 2048U, 3000U}) {
    const std::string text(size, 'y');
    EXPECT_EQ(LogTail(Out("P", text)), text.substr(0, 2048)) << size;
    EXPECT_EQ(LogTail(Out("F", text)), text.substr(0, 2047) + "\n") << size;
    EXPECT_EQ(LogTail(Out("F", text) + Err("P", "end")), text.substr(0, 2044) + "\nend") << size;
  }
}

// Only the end of a large log is read, which may begin within a record.
TEST_F(TerminationMessageTest, ReadsEndOfLargeLog) {
  const std::string path = "logs/default_web_u1/c/1.log";
  // Within the text of the first records there is what looks like a record.
  const std::string trap = std::string(3000, 'x') + " " + Out("F", "t").substr(0, 42);
  std::string log;
  while (log.size() < 1'000'000) log += Out("F", trap);
  root_.Write(path, log + Out("F", std::string(3000, 'y')) + Out("P", "end"));
  EXPECT_EQ(Message(1), std::string(2044, 'y') + "\nend");
  // Records that are larger than what is read first.
  root_.Write(path, log + Out("P", std::string(200'000, 'y')) + Out("P", "end"));
  EXPECT_EQ(Message(1), std::string(2045, 'y') + "end");
  root_.Write(path, log + Out("F", "one") + Out("F", std::string(200'000, 'y')));
  EXPECT_EQ(Message(1), std::string(2047, 'y') + "\n");
  // Many short records after large ones.
  for (int i = 0; i < 100; ++i) log += Out("F", "z");
  root_.Write(path, log);
  std::string lines;
  for (int i = 0; i < 80; ++i) lines += "z\n";
  EXPECT_EQ(Message(1), lines);
}

}  // namespace
}  // namespace cox::kubelet
