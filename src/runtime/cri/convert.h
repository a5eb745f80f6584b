// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "api/cri/v1.h"
#include "base/status.h"
#include "runtime/pod_state.h"
#include "runtime/runtime.h"

// What CRI says, in the kubelet's words. Pure functions.
namespace cox::runtime {

// The Pods that own these, each with what it has, the newest first. What is not marked as a Pod's
// is left out.
std::vector<PodState> GroupByPod(const List<cri::v1::PodSandbox>& sandboxes,
                                 const List<cri::v1::Container>& containers);

SandboxState ToState(const cri::v1::PodSandboxStatus& status);
ContainerState ToState(const cri::v1::ContainerStatus& status);
// Puts the newest first.
void Sort(PodState* pod);

// None for an event that names no Pod.
std::optional<ContainerEvent> ToEvent(const cri::v1::ContainerEventResponse& event);

// A failure of a call, given gRPC's number.
Status CallError(std::string_view method, int code, std::string_view text);

}  // namespace cox::runtime
