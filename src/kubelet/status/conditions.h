// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/core/v1.h"

namespace cox::kubelet {

// The conditions that only the kubelet writes.
inline constexpr std::string_view kReadyToStartContainers = "PodReadyToStartContainers";
inline constexpr std::string_view kInitialized = "Initialized";
inline constexpr std::string_view kReady = "Ready";
inline constexpr std::string_view kContainersReady = "ContainersReady";
inline constexpr std::string_view kPodScheduled = "PodScheduled";
inline constexpr std::string_view kDisruptionTarget = "DisruptionTarget";
bool IsKubeletCondition(std::string_view type);

// Sets the kubelet's conditions in `status`, whose phase and container statuses are already set;
// keeps the conditions of other writers. `sandbox_ready`: the Pod has a network.
void SetConditions(const core::v1::Pod& pod, bool sandbox_ready, const Time& now,
                   core::v1::PodStatus& status);

}  // namespace cox::kubelet
