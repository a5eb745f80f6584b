// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "kubelet/pod/containers.h"

namespace cox::kubelet {

enum class RestartAction : uint8_t { kNone, kRestart, kRestartAll };

// What follows when a container has ended with `exit_code`.
//
// The container's own rules come first, in their order; then its own policy; then the Pod's. Init
// containers that failed are tried again unless the policy is Never; sidecars always; ephemeral
// ones never.
RestartAction AfterExit(const core::v1::Pod& pod, const core::v1::Container& container,
                        ContainerKind kind, int32_t exit_code);

// What follows when the kubelet itself ended a container that was to run on: a probe failed.
RestartAction AfterProbeFailure(const core::v1::Pod& pod, const core::v1::Container& container,
                                ContainerKind kind);

}  // namespace cox::kubelet
