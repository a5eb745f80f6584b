// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "scheduler/cache/resources.h"

namespace cox::scheduler {

// A port of the node that a Pod takes.
struct HostPort {
  std::string ip;        // "0.0.0.0": on all addresses
  std::string protocol;  // "TCP"
  int32_t port = 0;

  auto operator<=>(const HostPort&) const = default;
};
// Whether not both can be had on one node.
bool Conflict(const HostPort& a, const HostPort& b);
std::vector<HostPort> HostPortsOf(const core::v1::Pod& pod);

// A Pod with what scheduling wants to know of it, worked out once. Immutable, shared.
struct PodInfo {
  std::shared_ptr<const core::v1::Pod> pod;
  Amounts requests;
  int64_t score_milli_cpu = 0;  // requests with defaults, for ranking
  int64_t score_memory = 0;
  std::vector<HostPort> ports;
  int32_t priority = 0;

  const std::string& uid() const { return pod->metadata.uid; }
};
using PodInfoPtr = std::shared_ptr<const PodInfo>;

PodInfoPtr MakePodInfo(std::shared_ptr<const core::v1::Pod> pod);

}  // namespace cox::scheduler
