// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kubelet/node/machine.h"

// Node pressure conditions, computed from eviction thresholds.
namespace cox::kubelet {

// An eviction threshold: "memory.available<100Mi", "nodefs.available<10%".
struct Threshold {
  std::string signal;
  int64_t amount = 0;   // bytes, inodes, processes
  double fraction = 0;  // of the capacity, instead of `amount`

  // The threshold as an amount for the given capacity.
  int64_t Of(int64_t capacity) const {
    return fraction > 0 ? static_cast<int64_t>(static_cast<double>(capacity) * fraction) : amount;
  }
};

// Parses a comma-separated list as in --eviction-hard. BadRequest if it is invalid. Signals that
// are not measured here (allocatableMemory.available) are skipped.
Result<std::vector<Threshold>> ParseThresholds(std::string_view text);
// KubeletConfiguration's defaults.
inline constexpr std::string_view kDefaultEvictionHard =
    "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,"
    "imagefs.inodesFree<5%";
std::vector<Threshold> DefaultEvictionHard();

// The measured resources.
struct Resources {
  AvailableResources slack;
  Filesystem node;    // of the kubelet's root directory
  Filesystem images;  // of the runtime's images
};

struct Pressure {
  bool memory = false;
  bool disk = false;
  bool pid = false;

  bool operator==(const Pressure&) const = default;
};

// The resources that are below their thresholds now.
Pressure FindPressure(const std::vector<Threshold>& thresholds, const Resources& resources);

// Keeps a pressure condition until it was absent for `transition`, so that it does not flap.
// Threads: as a plain value.
class PressureHistory {
 public:
  explicit PressureHistory(Clock::Duration transition) : transition_(transition) {}
  Pressure Observe(const Pressure& now, Clock::SteadyTime at);

 private:
  struct Observation {
    bool ever = false;
    Clock::SteadyTime last;
  };
  bool Update(Observation* seen, bool now, Clock::SteadyTime at) const;

  const Clock::Duration transition_;
  Observation memory_, disk_, pid_;
};

}  // namespace cox::kubelet
