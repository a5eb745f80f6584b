// SPDX-License-Identifier: Apache-2.0
#include "object/core/pod_state.h"

#include <gtest/gtest.h>

namespace cox::core_rules {
namespace {

using core::v1::Pod;

TEST(CorePodStateTest, SucceededAndFailedAreTerminal) {
  const struct {
    const char* phase;
    bool terminal;
  } kCases[] = {{"", false},        {"Pending", false},  {"Running", false},
                {"Unknown", false}, {"Succeeded", true}, {"Failed", true}};
  for (const auto& c : kCases) {
    Pod pod;
    pod.status.phase = c.phase;
    EXPECT_EQ(IsTerminal(pod), c.terminal) << c.phase;
    EXPECT_EQ(IsTerminalPhase(c.phase), c.terminal) << c.phase;
  }
}

TEST(CorePodStateTest, ReadyDependsOnTheReadyCondition) {
  Pod pod;
  EXPECT_FALSE(IsReady(pod));
  pod.status.conditions = {{.type = "ContainersReady", .status = "True"}};
  EXPECT_FALSE(IsReady(pod));
  pod.status.conditions.push_back({.type = "Ready", .status = "Unknown"});
  EXPECT_FALSE(IsReady(pod));
  pod.status.conditions.back().status = "True";
  EXPECT_TRUE(IsReady(pod));
}

}  // namespace
}  // namespace cox::core_rules
