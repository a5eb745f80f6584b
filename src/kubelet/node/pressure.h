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

// When a node has too little of something left: what its pressure conditions say.
namespace cox::kubelet {

// "memory.available<100Mi", "nodefs.available<10%": less than that is too little.
struct Threshold {
  std::string signal;
  int64_t amount = 0;   // bytes, inodes, processes
  double fraction = 0;  // of all there is, instead of `amount`

  // What that is of so much.
  int64_t Of(int64_t capacity) const {
    return fraction > 0 ? static_cast<int64_t>(static_cast<double>(capacity) * fraction) : amount;
  }
};

// A list as of --eviction-hard, separated by commas. BadRequest with what is wrong. Signals that
// nothing here measures (allocatableMemory.available) are left out.
Result<std::vector<Threshold>> ParseThresholds(std::string_view text);
// KubeletConfiguration's defaults.
inline constexpr std::string_view kDefaultEvictionHard =
    "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,"
    "imagefs.inodesFree<5%";
std::vector<Threshold> DefaultEvictionHard();

// What there is.
struct Resources {
  Slack slack;
  Filesystem node;    // of the kubelet's folder
  Filesystem images;  // of the runtime's
};

struct Pressure {
  bool memory = false;
  bool disk = false;
  bool pid = false;

  bool operator==(const Pressure&) const = default;
};

// Of what there is too little right now.
Pressure FindPressure(const std::vector<Threshold>& thresholds, const Resources& resources);

// What is told of it: pressure counts until it was gone for `transition`, so that a node on the
// edge does not flap. Threads: as a plain value.
class PressureMemory {
 public:
  explicit PressureMemory(Clock::Duration transition) : transition_(transition) {}
  Pressure Observe(const Pressure& now, Clock::SteadyTime at);

 private:
  struct Seen {
    bool ever = false;
    Clock::SteadyTime last;
  };
  bool Look(Seen* seen, bool now, Clock::SteadyTime at) const;

  const Clock::Duration transition_;
  Seen memory_, disk_, pid_;
};

}  // namespace cox::kubelet
