// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"

// The division of a server's seats among its priority levels. Pure functions, and a measure of a
// level's demand.
namespace cox::apiserver {

// The share of a level, from its configuration.
struct SeatShare {
  int shares = 0;
  int lendable_percent = 0;
  std::optional<int> borrowing_percent;  // none: no limit
};

// The range of a level's seats.
struct SeatLimits {
  int nominal = 0;  // its own
  int lower = 0;    // cannot be borrowed by others
  int upper = 0;    // including all borrowed seats
};

// Divides `total` in proportion; rounded up, so that every level with a share has a seat.
std::vector<SeatLimits> ShareSeats(int total, std::span<const SeatShare> shares);

// The demand of a level at an adjustment. lower <= target, lower <= upper.
struct SeatClaim {
  double lower = 0;
  double upper = 0;
  double target = 0;
};
struct SeatDivision {
  std::vector<double> seats;
  double fair_fraction = 0;  // the fraction of its target for each level within its limits
};
// Divides `total` so that each level gets the same fraction of its target, within its limits. If
// the lower limits exceed the total, each level gets its lower limit; if the upper limits are below
// the total, each gets its upper limit.
SeatDivision DivideSeats(double total, std::span<const SeatClaim> claims);

// The demand of a level over time: seats in use plus seats of waiting requests.
//
// Threads: One at a time.
class SeatDemand {
 public:
  explicit SeatDemand(Clock::SteadyTime now) : began_(now), changed_(now) {}

  void Set(int seats, Clock::SteadyTime now);

  struct Summary {
    double average = 0;
    double deviation = 0;  // standard deviation
    double high = 0;
  };
  // The summary since the last Take; resets the measurement.
  Summary Take(Clock::SteadyTime now);

 private:
  void Advance(Clock::SteadyTime now);

  Clock::SteadyTime began_;
  Clock::SteadyTime changed_;
  int seats_ = 0;
  int high_ = 0;
  double area_ = 0;  // integral of seats, in seat seconds
  double squares_ = 0;
};

}  // namespace cox::apiserver
