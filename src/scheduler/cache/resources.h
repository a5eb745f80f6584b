// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/v1.h"
#include "object/scalar/quantity.h"
#include "object/type/map.h"

namespace cox::scheduler {

// Amounts of resources in whole units: thousandths of a CPU, bytes, pieces. The three that nearly
// every Pod has are members; the rest (extended resources, huge pages) a sorted list.
struct Amounts {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  std::vector<std::pair<std::string, int64_t>> extended;  // by name

  static Amounts Of(const Map<Quantity>& list);

  int64_t Get(std::string_view name) const;
  int64_t& At(std::string_view name);  // made, as zero, where it is not there
  void Add(const Amounts& other);
  void Sub(const Amounts& other);
  void Max(const Amounts& other);  // the larger of each
  bool IsZero() const;             // nothing of anything

  bool operator==(const Amounts&) const = default;
};

// What containers that ask for nothing are taken to use when nodes are ranked, so that they do not
// all end on one node.
inline constexpr int64_t kDefaultMilliCpu = 100;
inline constexpr int64_t kDefaultMemory = 200LL * 1024 * 1024;

// What a Pod takes of its node: containers and sidecars together, or its hungriest init container
// with the sidecars started before it, whichever is more; what it asks for as a whole instead,
// where it does; and the overhead of its runtime. Of a running Pod that is being resized the larger
// of what it has and what it wants.
Amounts RequestsOf(const core::v1::Pod& pod);
// The same with the defaults above for containers that do not say.
Amounts RequestsWithDefaults(const core::v1::Pod& pod);

}  // namespace cox::scheduler
