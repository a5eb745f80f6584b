// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>

#include "coxswain/leader_election.h"

namespace cox::sdk {

// BadRequest for inconsistent options, by client-go's rules.
Status CheckOptions(const LeaderElectionOptions& options, std::string_view identity);

// The host name and a random suffix.
std::string NewIdentity();

// Random part of a retry period, so that candidates do not send requests at the same time. At most
// 20%: two periods with jitter are shorter than client-go's maximum for one.
class Jitter {
 public:
  explicit Jitter(Clock::Duration period) : period_(period), random_(std::random_device{}()) {}
  Clock::Duration Next() {
    const double part = std::uniform_real_distribution<double>(0, 0.2)(random_);
    return std::chrono::duration_cast<Clock::Duration>(period_ * part);
  }

 private:
  const Clock::Duration period_;
  std::minstd_rand random_;
};

}  // namespace cox::sdk
