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

// Resource amounts as integers: millicores, bytes, counts. The three resources that nearly every
// Pod uses are members; the others (extended resources, huge pages) are in a sorted list.
struct Amounts {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  std::vector<std::pair<std::string, int64_t>> extended;  // sorted by name

  static Amounts Of(const Map<Quantity>& list);

  int64_t Get(std::string_view name) const;
  int64_t& At(std::string_view name);  // inserts zero if it is absent
  void Add(const Amounts& other);
  void Sub(const Amounts& other);
  void Max(const Amounts& other);  // element-wise maximum
  bool IsZero() const;             // all amounts are zero

  bool operator==(const Amounts&) const = default;
};

// Requests that scoring assumes for containers without requests, so that these do not all go to one
// node.
inline constexpr int64_t kDefaultMilliCpu = 100;
inline constexpr int64_t kDefaultMemory = 200LL * 1024 * 1024;

// The resources that a Pod uses: the sum of containers and sidecars, or the maximum over init
// containers with the sidecars started before them, whichever is larger; Pod-level requests
// override this; plus the overhead. For a running Pod that is being resized, the maximum of
// allocated and requested resources.
Amounts RequestsOf(const core::v1::Pod& pod);
// The same with the defaults above for containers without requests.
Amounts RequestsWithDefaults(const core::v1::Pod& pod);

}  // namespace cox::scheduler
