// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace cox::kubelet {

// How long what fails again and again is left alone: containers that crash, images that cannot be
// pulled. 10 s, doubled up to 5 min; forgotten when it went well for twice that long.
//
//   if (backoff.Remaining(name, ended, now) > 0s) ... wait;
//   else { backoff.Began(name, ended, now); Start(); }
//
// The first attempt after a failure waits for nothing: many failures are of the moment.
// Threads: as a plain value; one Pod's worker owns it.
class Backoff {
 public:
  struct Limits {
    Clock::Duration initial = std::chrono::seconds(10);
    Clock::Duration max = std::chrono::seconds(300);
  };
  Backoff() = default;
  explicit Backoff(Limits limits) : limits_(limits) {}

  // Until `key`, which failed at `failed`, may be tried again; 0 when it may.
  Clock::Duration Remaining(std::string_view key, Clock::WallTime failed,
                            Clock::WallTime now) const;
  // The wait that Remaining counts from; 0 if there is none yet.
  Clock::Duration Delay(std::string_view key) const;
  // It is tried again now, after it failed at `failed`.
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
