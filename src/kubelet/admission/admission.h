// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/v1.h"

// Kubelet admission: whether a Pod that is bound to this node can run here. Pure.
namespace cox::kubelet {

struct Rejection {
  std::string reason;   // "OutOfcpu", "NodeAffinity", "TaintToleration"
  std::string message;  // of the event and the status

  bool operator==(const Rejection&) const = default;
};

// `others`: the admitted Pods that have not ended. If `node` is null (not yet read), only the
// number of Pods is checked.
std::optional<Rejection> Admit(const core::v1::Pod& pod, const core::v1::Node* node, int max_pods,
                               const std::vector<std::shared_ptr<const core::v1::Pod>>& others);

}  // namespace cox::kubelet
