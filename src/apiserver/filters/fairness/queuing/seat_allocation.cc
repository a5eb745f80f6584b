// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/queuing/seat_allocation.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace cox::apiserver {
namespace {

// Bisection steps: the error is far below a thousandth of a seat.
constexpr int kSteps = 64;

double Part(const SeatClaim& claim, double fraction) {
  return std::clamp(fraction * claim.target, claim.lower, claim.upper);
}

double SumOf(std::span<const SeatClaim> claims, double fraction) {
  double sum = 0;
  for (const SeatClaim& claim : claims) sum += Part(claim, fraction);
  return sum;
}

}  // namespace

std::vector<SeatLimits> ShareSeats(int total, std::span<const SeatShare> shares) {
  double sum = 0;
  for (const SeatShare& share : shares) sum += share.shares;
  std::vector<SeatLimits> limits;
  for (const SeatShare& share : shares) {
    SeatLimits limit;
    if (sum > 0) limit.nominal = static_cast<int>(std::ceil(total * (share.shares / sum)));
    limit.lower = limit.nominal -
                  static_cast<int>(std::lround(limit.nominal * share.lendable_percent / 100.0));
    limit.upper = total;
    if (share.borrowing_percent) {
      const double borrowed = std::round(limit.nominal * (*share.borrowing_percent / 100.0));
      limit.upper = limit.nominal + static_cast<int>(std::min<double>(borrowed, total));
    }
    limit.upper = std::max(limit.upper, limit.nominal);
    limits.push_back(limit);
  }
  return limits;
}

SeatDivision DivideSeats(double total, std::span<const SeatClaim> claims) {
  // The sum grows with the fraction. At `high`, every target exceeds its upper limit.
  double low = 0;
  double high = 1;
  for (const SeatClaim& claim : claims) {
    if (claim.target > 0) high = std::max(high, claim.upper / claim.target);
  }
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (SumOf(claims, middle) < total ? low : high) = middle;
  }
  SeatDivision division;
  division.fair_fraction = high;
  for (const SeatClaim& claim : claims) division.seats.push_back(Part(claim, high));
  return division;
}

void SeatDemand::Advance(Clock::SteadyTime now) {
  if (now <= changed_) return;
  const double seconds = std::chrono::duration<double>(now - changed_).count();
  area_ += seconds * seats_;
  squares_ += seconds * seats_ * seats_;
  changed_ = now;
}

void SeatDemand::Set(int seats, Clock::SteadyTime now) {
  Advance(now);
  seats_ = seats;
  high_ = std::max(high_, seats);
}

SeatDemand::Summary SeatDemand::Take(Clock::SteadyTime now) {
  Advance(now);
  const double seconds = std::chrono::duration<double>(now - began_).count();
  Summary summary{.average = static_cast<double>(seats_), .deviation = 0, .high = 0};
  if (seconds > 0) {
    summary.average = area_ / seconds;
    const double variance = squares_ / seconds - summary.average * summary.average;
    summary.deviation = std::sqrt(std::max(variance, 0.0));
  }
  summary.high = high_;
  began_ = changed_ = now;
  high_ = seats_;
  area_ = squares_ = 0;
  return summary;
}

}  // namespace cox::apiserver
