// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod/restart.h"

#include <gtest/gtest.h>

namespace cox::kubelet {
namespace {

using core::v1::Container;
using core::v1::Pod;
using enum ContainerKind;

constexpr auto kNo = RestartAction::kNone;
constexpr auto kYes = RestartAction::kRestart;
constexpr auto kAll = RestartAction::kRestartAll;

Container WithRule(std::string policy, std::string action, std::string op, List<int32_t> codes) {
  Container c{.restartPolicy = policy};
  core::v1::ContainerRestartRule rule{.action = action};
  rule.exitCodes = core::v1::ContainerRestartRuleOnExitCodes{.operator_ = op, .values = codes};
  c.restartPolicyRules.push_back(rule);
  return c;
}

TEST(RestartTest, AppliesRestartPolicies) {
  const struct {
    std::string pod_policy;
    Container container;
    ContainerKind kind;
    int32_t code;
    RestartAction want;
  } kCases[] = {
      {"Always", {}, kMain, 0, kYes},
      {"Always", {}, kMain, 1, kYes},
      {"OnFailure", {}, kMain, 0, kNo},
      {"OnFailure", {}, kMain, 1, kYes},
      {"Never", {}, kMain, 1, kNo},
      {"Always", {}, kInit, 0, kNo},
      {"Always", {}, kInit, 1, kYes},
      {"Never", {}, kInit, 1, kNo},
      {"Never", {.restartPolicy = "Always"}, kSidecar, 0, kYes},
      {"Always", {}, kEphemeral, 1, kNo},
      // The container's policy overrides the Pod's, its rules override both.
      {"Always", {.restartPolicy = "Never"}, kMain, 1, kNo},
      {"Never", {.restartPolicy = "OnFailure"}, kMain, 1, kYes},
      {"Never", WithRule("Never", "Restart", "In", {42}), kMain, 42, kYes},
      {"Never", WithRule("Never", "Restart", "In", {42}), kMain, 1, kNo},
      {"Never", WithRule("Never", "Restart", "NotIn", {42}), kMain, 1, kYes},
      {"Never", WithRule("Never", "Restart", "NotIn", {42}), kMain, 42, kNo},
      {"Never", WithRule("Never", "RestartAllContainers", "In", {7}), kMain, 7, kAll},
      {"Always", WithRule("Always", "Restart", "Later", {7}), kMain, 7, kYes},
  };
  for (const auto& c : kCases) {
    Pod pod;
    pod.spec.restartPolicy = c.pod_policy;
    EXPECT_EQ(AfterExit(pod, c.container, c.kind, c.code), c.want)
        << c.pod_policy << " " << static_cast<int>(c.kind) << " " << c.code;
  }
}

TEST(RestartTest, FailedProbeRestartsUnlessPolicyIsNever) {
  Pod pod;
  for (const auto& [policy, want] :
       {std::pair{"Always", kYes}, {"OnFailure", kYes}, {"Never", kNo}}) {
    pod.spec.restartPolicy = policy;
    EXPECT_EQ(AfterProbeFailure(pod, {}, kMain), want) << policy;
  }
}

}  // namespace
}  // namespace cox::kubelet
