// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubelet/pod/containers.h"
#include "kubelet/status/pod_status.h"

namespace cox::kubelet {

// The status of one container: state, last state, started and ready.
core::v1::ContainerStatus MakeContainerStatus(const StatusInput& input,
                                              const core::v1::Container& container,
                                              ContainerKind kind);

}  // namespace cox::kubelet
