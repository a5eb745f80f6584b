// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/pod_state.h"

namespace cox::kubelet {

// Dead containers and sandboxes of a live Pod that can be removed.
struct Leftovers {
  std::vector<runtime::ContainerState> containers;
  std::vector<std::string> sandboxes;
};

// Keeps the newest instance of each container and the newest instance that has ended (for `logs
// --previous`), the newest sandbox, and the sandboxes of the containers that are kept. Pure.
Leftovers FindLeftovers(const runtime::PodState& state);

}  // namespace cox::kubelet
