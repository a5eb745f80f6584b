// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "object/core/host_ports.h"
#include "scheduler/cache/resources.h"

namespace cox::scheduler {

using core_rules::HostPort;

// The resources and ports of its node that a Pod uses: all that the scheduler keeps of a Pod that
// has a node. Immutable, shared.
struct PodUsage {
  Amounts requests;
  int64_t score_milli_cpu = 0;  // requests with defaults, for scoring
  int64_t score_memory = 0;
  std::vector<HostPort> ports;
  int32_t priority = 0;

  bool operator==(const PodUsage&) const = default;
};
using PodUsagePtr = std::shared_ptr<const PodUsage>;

// A Pod with precomputed data for scheduling. Immutable, shared.
struct PodInfo : PodUsage {
  std::shared_ptr<const core::v1::Pod> pod;

  const std::string& uid() const { return pod->metadata.uid; }
};
using PodInfoPtr = std::shared_ptr<const PodInfo>;

PodInfoPtr MakePodInfo(std::shared_ptr<const core::v1::Pod> pod);

}  // namespace cox::scheduler
