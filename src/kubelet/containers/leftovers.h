// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/pod_state.h"

namespace cox::kubelet {

// What of a Pod that goes on is of no use to anybody any more.
struct Leftovers {
  std::vector<runtime::ContainerState> containers;
  std::vector<std::string> sandboxes;
};

// Of each container the newest life and the newest that has ended stay (people ask for its log);
// of sandboxes the newest, and those whose containers stay. Pure.
Leftovers FindLeftovers(const runtime::PodState& state);

}  // namespace cox::kubelet
