// SPDX-License-Identifier: Apache-2.0
#include "kubelet/node/pressure.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "object/scalar/quantity.h"

namespace cox::kubelet {
namespace {

constexpr std::string_view kSignals[] = {
    "memory.available",   "nodefs.available",      "nodefs.inodesFree",      "imagefs.available",
    "imagefs.inodesFree", "containerfs.available", "containerfs.inodesFree", "pid.available"};

Result<Threshold> ParseThreshold(std::string_view text) {
  const CutResult cut = Cut(text, '<');
  if (!cut.found) {
    return Status::BadRequest(Quote(text) +
                              " is no threshold such as memory.available<100Mi or "
                              "nodefs.available<10%");
  }
  Threshold threshold;
  threshold.signal = TrimSpace(cut.before);
  std::string_view value = TrimSpace(cut.after);
  if (value.ends_with('%')) {
    value.remove_suffix(1);
    double percent = -1;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), percent);
    if (error != std::errc() || end != value.data() + value.size() || percent < 0 ||
        percent > 100) {
      return Status::BadRequest(Quote(text) + ": a share must be within 0% and 100%");
    }
    threshold.fraction = percent / 100;
    return threshold;
  }
  const Result<Quantity> amount = Quantity::Parse(value);
  if (!amount.ok() || amount->Sign() < 0) {
    return Status::BadRequest(Quote(text) + ": " + Quote(value) + " is no amount such as 100Mi");
  }
  threshold.amount = amount->Value();
  return threshold;
}

struct Measure {
  int64_t available = 0;
  int64_t capacity = 0;
};

Measure MeasureOf(std::string_view signal, const Resources& is) {
  if (signal == "memory.available") return {is.slack.memory_available_bytes, is.slack.memory_bytes};
  if (signal == "pid.available") return {is.slack.max_pids - is.slack.pids, is.slack.max_pids};
  const bool node = signal.starts_with("nodefs.");
  const Filesystem& on = node ? is.node : is.images;
  if (signal.ends_with(".inodesFree")) return {on.inodes_free, on.inodes};
  return {on.available_bytes, on.capacity_bytes};
}

}  // namespace

Result<std::vector<Threshold>> ParseThresholds(std::string_view text) {
  std::vector<Threshold> thresholds;
  for (const std::string_view part : Split(text, ',')) {
    if (TrimSpace(part).empty()) continue;
    COX_ASSIGN_OR_RETURN(Threshold threshold, ParseThreshold(part));
    if (std::find(std::begin(kSignals), std::end(kSignals), threshold.signal) ==
        std::end(kSignals)) {
      if (threshold.signal == "allocatableMemory.available") continue;
      return Status::BadRequest("unknown eviction signal " + Quote(threshold.signal) + ", one of " +
                                Join(kSignals, ", ") + " is expected");
    }
    thresholds.push_back(std::move(threshold));
  }
  return thresholds;
}

std::vector<Threshold> DefaultEvictionHard() {
  auto thresholds = ParseThresholds(kDefaultEvictionHard);
  return thresholds.ok() ? *std::move(thresholds) : std::vector<Threshold>();
}

Pressure FindPressure(const std::vector<Threshold>& thresholds, const Resources& resources) {
  Pressure pressure;
  for (const Threshold& threshold : thresholds) {
    const Measure is = MeasureOf(threshold.signal, resources);
    // A capacity of 0 means not measured, or a file system without a fixed number of inodes.
    if (is.capacity <= 0 || is.available >= threshold.Of(is.capacity)) continue;
    if (threshold.signal == "memory.available") {
      pressure.memory = true;
    } else if (threshold.signal == "pid.available") {
      pressure.pid = true;
    } else {
      pressure.disk = true;
    }
  }
  return pressure;
}

bool PressureHistory::Update(Observation* seen, bool now, Clock::SteadyTime at) const {
  if (now) *seen = {true, at};
  return seen->ever && at - seen->last < transition_;
}

Pressure PressureHistory::Observe(const Pressure& now, Clock::SteadyTime at) {
  return {.memory = Update(&memory_, now.memory, at) || now.memory,
          .disk = Update(&disk_, now.disk, at) || now.disk,
          .pid = Update(&pid_, now.pid, at) || now.pid};
}

}  // namespace cox::kubelet
