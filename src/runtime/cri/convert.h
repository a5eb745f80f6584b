// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "api/cri/v1.h"
#include "base/status.h"
#include "runtime/pod_state.h"
#include "runtime/runtime.h"

// Conversions from CRI types to the types of runtime.h. Pure functions.
namespace cox::runtime {

// Groups sandboxes and containers by Pod, newest first. Objects without Pod labels are ignored.
std::vector<PodState> GroupByPod(const List<cri::v1::PodSandbox>& sandboxes,
                                 const List<cri::v1::Container>& containers);

SandboxState ToState(const cri::v1::PodSandboxStatus& status);
ContainerState ToState(const cri::v1::ContainerStatus& status);
// Sorts newest first.
void Sort(PodState* pod);

// nullopt for an event without a Pod.
std::optional<ContainerEvent> ToEvent(const cri::v1::ContainerEventResponse& event);

// Converts a gRPC status code to a Status.
Status CallError(std::string_view method, int code, std::string_view text);

}  // namespace cox::runtime
