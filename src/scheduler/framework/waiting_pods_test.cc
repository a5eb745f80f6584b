// SPDX-License-Identifier: Apache-2.0
#include "scheduler/framework/waiting_pods.h"

#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "scheduler/testing/test_objects.h"

namespace cox::scheduler {
namespace {

using std::chrono::seconds;

class WaitingPodsTest : public testing::Test {
 protected:
  void Add(const std::string& name) {
    waiting.Add(Info(TestPod(name)), {{"A", seconds(5)}, {"B", seconds(10)}},
                [this, name](const PluginStatus& status) {
                  told += name + ":" + (status.ok() ? "ok" : status.Message()) + ";";
                });
  }
  TestClock clock;
  WaitingPods waiting{clock};
  std::string told;
};

TEST_F(WaitingPodsTest, DoneWhenAllPluginsAllow) {
  Add("p");
  EXPECT_EQ(waiting.List().size(), 1U);
  EXPECT_TRUE(waiting.Allow("uid-p", "A"));
  EXPECT_FALSE(waiting.Allow("uid-p", "A")) << "it does not wait for that one any more";
  EXPECT_FALSE(waiting.Allow("uid-q", "A"));
  EXPECT_EQ(told, "");
  EXPECT_TRUE(waiting.Allow("uid-p", "B"));
  EXPECT_EQ(told, "p:ok;");
  clock.Advance(seconds(60));
  EXPECT_EQ(told, "p:ok;");
  EXPECT_TRUE(waiting.List().empty());
}

TEST_F(WaitingPodsTest, OneRejectionIsSufficient) {
  Add("p");
  EXPECT_TRUE(waiting.Allow("uid-p", "A"));
  EXPECT_TRUE(waiting.Reject("uid-p", "B", "no"));
  EXPECT_EQ(told, "p:no;");
  EXPECT_FALSE(waiting.Reject("uid-p", "A", "late"));
  clock.Advance(seconds(60));
  EXPECT_EQ(told, "p:no;");
}

TEST_F(WaitingPodsTest, TimeoutRejects) {
  Add("p");
  Add("q");
  EXPECT_TRUE(waiting.Allow("uid-p", "A"));
  clock.Advance(seconds(5));
  EXPECT_EQ(told, "q:rejected due to timeout after waiting 5s at plugin A;");
  clock.Advance(seconds(5));
  EXPECT_EQ(told,
            "q:rejected due to timeout after waiting 5s at plugin A;"
            "p:rejected due to timeout after waiting 10s at plugin B;");
}

TEST_F(WaitingPodsTest, ClearDoesNotCallDone) {
  Add("p");
  waiting.Clear();
  clock.Advance(seconds(60));
  EXPECT_EQ(told, "");
}

}  // namespace
}  // namespace cox::scheduler
