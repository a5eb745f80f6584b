// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"

// How the seats of a server are divided among its priority levels. Pure functions, and a measure of
// how many seats a level would use.
namespace cox::apiserver {

// What a level's configuration says about its part.
struct SeatShare {
  int shares = 0;
  int lendable_percent = 0;
  std::optional<int> borrowing_percent;  // none: it may borrow all there is
};

// Between which numbers of seats a level moves.
struct SeatLimits {
  int nominal = 0;  // its own
  int lower = 0;    // what it keeps when others borrow
  int upper = 0;    // with all it may borrow
};

// Shares of `total` in proportion; rounded up, so that every level with a share has a seat.
std::vector<SeatLimits> ShareSeats(int total, std::span<const SeatShare> shares);

// What a level asks for when seats are divided anew. lower <= target, lower <= upper.
struct SeatClaim {
  double lower = 0;
  double upper = 0;
  double target = 0;
};
struct SeatDivision {
  std::vector<double> seats;
  double fair_fraction = 0;  // everybody's part of its target, where no limit stands in the way
};
// Divides `total` so that each gets the same fraction of its target, within its limits. If even the
// lower limits are more than there is, each gets that; if the upper are less, likewise.
SeatDivision DivideSeats(double total, std::span<const SeatClaim> claims);

// How many seats a level would use, over time: those it uses and those that wait.
//
// Threads: one at a time.
class SeatDemand {
 public:
  explicit SeatDemand(Clock::SteadyTime now) : began_(now), changed_(now) {}

  void Set(int seats, Clock::SteadyTime now);

  struct Summary {
    double average = 0;
    double deviation = 0;  // standard
    double high = 0;
  };
  // Of the time since the last Take; begins anew.
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
