// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/core/v1.h"

namespace cox::controllers {

// The value of the node's zone label, or "".
std::string ZoneLabelOf(const core::v1::Node& node);

// The allocatable CPU of the ready nodes in each zone.
struct ZoneCpus {
  std::map<std::string, int64_t> millis;  // by zone, never 0
  int64_t total = 0;
  size_t incomplete_nodes = 0;  // ready nodes without a zone or without allocatable CPU

  bool operator==(const ZoneCpus&) const = default;
};

// Maintains ZoneCpus incrementally, so that a change of a node costs the same in a large cluster.
// Control plane nodes do not count, because most of them run no clients of Services.
//
// Threads: none; the owner synchronizes.
class ZoneCapacity {
 public:
  // Adds or replaces a node. Returns true if the result changed.
  bool Set(const core::v1::Node& node);
  bool Remove(std::string_view name);

  const ZoneCpus& cpus() const { return cpus_; }

 private:
  struct Node {
    std::string zone;
    int64_t millis = 0;
    bool operator==(const Node&) const = default;
  };
  void Add(const Node& node);
  void Subtract(const Node& node);

  std::map<std::string, Node, std::less<>> nodes_;  // those that count
  ZoneCpus cpus_;
};

}  // namespace cox::controllers
