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

TEST(LogTailTest, IsLimitedInLinesAndBytes) {
  std::string log;
  for (int i = 0; i < 100; ++i) log += "t stdout F " + std::to_string(i) + "\n";
  EXPECT_TRUE(LogTail(log).starts_with("20\n21\n"));
  EXPECT_EQ(LogTail("t stdout F " + std::string(3000, 'y') + "\n").size(), 2048U);
}

}  // namespace
}  // namespace cox::kubelet
