// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "scheduler/cache/pod_info.h"

namespace cox::scheduler {

// A node's index in the columns of the snapshot; constant during the lifetime of the node.
using NodeIndex = uint32_t;

// A node in the cache: the object, the Pods that are bound or assumed on it, and their sums.
struct NodeInfo {
  std::string name;
  std::shared_ptr<const core::v1::Node> node;  // null: only Pods of the node are known
  std::vector<PodUsagePtr> pods;
  Amounts allocatable;
  int64_t allowed_pods = 0;
  Amounts requested;
  int64_t score_milli_cpu = 0;  // sums over the Pods
  int64_t score_memory = 0;
  std::vector<HostPort> ports;
  // Increases with every change of any node: equal generations mean equal content.
  uint64_t generation = 0;

  void SetNode(std::shared_ptr<const core::v1::Node> object);
  void AddPod(PodUsagePtr pod);
  // REQUIRES: it was added.
  void RemovePod(const PodUsagePtr& pod);
};

}  // namespace cox::scheduler
