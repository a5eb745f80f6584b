// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "scheduler/cache/pod_info.h"

namespace cox::scheduler {

// A node's place in the columns of the snapshot; stays while the node does.
using NodeIndex = uint32_t;

// One node as the cache has it: the object, the Pods that are on it or about to be, and their sums.
struct NodeInfo {
  std::shared_ptr<const core::v1::Node> node;  // null: only its Pods are known
  std::vector<PodInfoPtr> pods;
  Amounts allocatable;
  int64_t allowed_pods = 0;
  Amounts requested;
  int64_t score_milli_cpu = 0;  // sums of PodInfo's
  int64_t score_memory = 0;
  std::vector<HostPort> ports;
  // Grows with every change, of any node: equal generations are equal nodes.
  uint64_t generation = 0;

  void SetNode(std::shared_ptr<const core::v1::Node> object);
  void AddPod(PodInfoPtr pod);
  // False if it is not here.
  bool RemovePod(const std::string& uid);
};

}  // namespace cox::scheduler
