// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "kubelet/pod/containers.h"

namespace cox::kubelet {

enum class RestartAction : uint8_t { kNone, kRestart, kRestartAll };

// The action after a container has ended with `exit_code`.
//
// Precedence: the container's restart rules in order, its restart policy, the Pod's restart policy.
// Failed init containers are restarted unless the policy is Never; sidecars are always restarted;
// ephemeral containers never.
RestartAction AfterExit(const core::v1::Pod& pod, const core::v1::Container& container,
                        ContainerKind kind, int32_t exit_code);

// The action after the kubelet has killed a container because a probe failed.
RestartAction AfterProbeFailure(const core::v1::Pod& pod, const core::v1::Container& container,
                                ContainerKind kind);

}  // namespace cox::kubelet
