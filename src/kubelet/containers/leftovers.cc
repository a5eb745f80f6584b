// SPDX-License-Identifier: Apache-2.0
#include "kubelet/containers/leftovers.h"

#include <algorithm>
#include <set>

namespace cox::kubelet {

using runtime::ContainerState;
using Phase = ContainerState::Phase;

Leftovers FindLeftovers(const runtime::PodState& state) {
  Leftovers out;
  std::set<std::string> newest;  // names whose newest instance was visited
  std::set<std::string> ended;   // names whose newest ended instance was visited
  std::vector<const ContainerState*> kept;
  for (const ContainerState& container : state.containers) {
    const bool first = newest.insert(container.name).second;
    const bool is_ended = container.phase == Phase::kExited;
    const bool first_ended = is_ended && ended.insert(container.name).second;
    const bool removable = is_ended || container.phase == Phase::kCreated;
    if (first || first_ended || !removable) {
      kept.push_back(&container);
    } else {
      out.containers.push_back(container);
    }
  }
  // Sandboxes are sorted newest first; a container belongs to the newest sandbox older than itself.
  const auto& sandboxes = state.sandboxes;
  for (size_t i = 1; i < sandboxes.size(); ++i) {
    if (sandboxes[i].ready) continue;
    const bool in_use = std::any_of(kept.begin(), kept.end(), [&](const ContainerState* container) {
      return container->created >= sandboxes[i].created &&
             container->created < sandboxes[i - 1].created;
    });
    if (!in_use) out.sandboxes.push_back(sandboxes[i].id);
  }
  return out;
}

}  // namespace cox::kubelet
