// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace cox::kubelet {

// Exponential backoff for containers that crash and for image pulls that fail: 10 s, doubled up to
// 5 min; reset after twice the maximum without a failure.
//
//   if (backoff.Remaining(name, ended, now) > 0s) ... wait;
//   else { backoff.Began(name, ended, now); Start(); }
//
// The first attempt after a failure does not wait, because many failures are transient.
// Threads: as a plain value; one Pod's worker owns it.
class Backoff {
 public:
  struct Limits {
    Clock::Duration initial = std::chrono::seconds(10);
    Clock::Duration max = std::chrono::seconds(300);
  };
  Backoff() = default;
  explicit Backoff(Limits limits) : limits_(limits) {}

  // The time until `key`, which failed at `failed`, may be retried; 0 if it may be retried now.
  Clock::Duration Remaining(std::string_view key, Clock::WallTime failed,
                            Clock::WallTime now) const;
  // The current delay of `key`; 0 if it has not failed yet.
  Clock::Duration Delay(std::string_view key) const;
  // Records a retry that begins at `now`, after the failure at `failed`.
  void Began(std::string_view key, Clock::WallTime failed, Clock::WallTime now);
  void Forget(std::string_view key);

 private:
  struct Entry {
    Clock::Duration delay;
    Clock::WallTime began;
  };
  bool Expired(const Entry& entry, Clock::WallTime failed) const {
    return failed - entry.began > 2 * limits_.max;
  }

  Limits limits_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace cox::kubelet
