// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod/restart.h"

#include <algorithm>

namespace cox::kubelet {

using core::v1::Container;
using core::v1::ContainerRestartRule;
using core::v1::Pod;

namespace {

bool Matches(const ContainerRestartRule& rule, int32_t exit_code) {
  if (!rule.exitCodes) return false;
  const List<int32_t>& values = rule.exitCodes->values;
  const bool listed = std::find(values.begin(), values.end(), exit_code) != values.end();
  if (rule.exitCodes->operator_ == core::v1::kContainerRestartRuleOnExitCodesOpIn) return listed;
  if (rule.exitCodes->operator_ == core::v1::kContainerRestartRuleOnExitCodesOpNotIn) {
    return !listed;
  }
  return false;  // unknown operator
}

// "Always", "OnFailure" or "Never".
const std::string& PolicyOf(const Pod& pod, const Container& container) {
  return container.restartPolicy ? *container.restartPolicy : pod.spec.restartPolicy;
}

}  // namespace

RestartAction AfterExit(const Pod& pod, const Container& container, ContainerKind kind,
                        int32_t exit_code) {
  if (kind == ContainerKind::kEphemeral) return RestartAction::kNone;
  for (const ContainerRestartRule& rule : container.restartPolicyRules) {
    if (!Matches(rule, exit_code)) continue;
    if (rule.action == core::v1::kContainerRestartRuleActionRestart) return RestartAction::kRestart;
    if (rule.action == core::v1::kContainerRestartRuleActionRestartAllContainers) {
      return RestartAction::kRestartAll;
    }
  }
  if (kind == ContainerKind::kSidecar) return RestartAction::kRestart;
  const std::string& policy = PolicyOf(pod, container);
  if (policy == core::v1::kRestartPolicyNever) return RestartAction::kNone;
  // An init container that succeeded is not restarted under any policy.
  const bool on_failure_only =
      kind == ContainerKind::kInit || policy == core::v1::kRestartPolicyOnFailure;
  return on_failure_only && exit_code == 0 ? RestartAction::kNone : RestartAction::kRestart;
}

RestartAction AfterProbeFailure(const Pod& pod, const Container& container, ContainerKind kind) {
  if (kind == ContainerKind::kEphemeral) return RestartAction::kNone;
  if (kind == ContainerKind::kSidecar) return RestartAction::kRestart;
  return PolicyOf(pod, container) == core::v1::kRestartPolicyNever ? RestartAction::kNone
                                                                   : RestartAction::kRestart;
}

}  // namespace cox::kubelet
