// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/v1.h"

// Whether a Pod that was bound to this node can run here. Pure.
namespace cox::kubelet {

struct Rejection {
  std::string reason;   // "OutOfcpu", "NodeAffinity", "Taints"
  std::string message;  // of the event and the status

  bool operator==(const Rejection&) const = default;
};

// `others`: the Pods that were taken in and are not over. `node`: null while it is not known; then
// only their number counts.
std::optional<Rejection> Admit(const core::v1::Pod& pod, const core::v1::Node* node, int max_pods,
                               const std::vector<std::shared_ptr<const core::v1::Pod>>& others);

}  // namespace cox::kubelet
