// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/queuing/seat_allocation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

namespace cox::apiserver {
namespace {

using std::chrono::seconds;

constexpr Clock::SteadyTime kStart{std::chrono::hours(1)};

TEST(ShareSeats, BootstrapLevelsMatchUpstream) {
  // system, node-high, leader-election, workload-high, workload-low, global-default, catch-all,
  // exempt; of 600.
  const std::vector<SeatShare> shares = {{30, 33, {}},  {40, 25, {}}, {10, 0, {}}, {40, 50, {}},
                                         {100, 90, {}}, {20, 50, {}}, {5, 0, {}},  {0, 0, {}}};
  const int nominal[] = {74, 98, 25, 98, 245, 49, 13, 0};
  const int lower[] = {50, 73, 25, 49, 24, 24, 13, 0};
  const std::vector<SeatLimits> limits = ShareSeats(600, shares);
  for (size_t i = 0; i < limits.size(); ++i) {
    EXPECT_EQ(limits[i].nominal, nominal[i]) << i;
    EXPECT_EQ(limits[i].lower, lower[i]) << i;
    EXPECT_EQ(limits[i].upper, 600) << i;
  }
}

TEST(ShareSeats, BorrowingIsLimited) {
  const std::vector<SeatShare> shares = {{10, 0, 0}, {10, 50, 100}, {0, 100, 50}};
  const std::vector<SeatLimits> limits = ShareSeats(100, shares);
  EXPECT_EQ(limits[0].upper, 50);
  EXPECT_EQ(limits[1].upper, 100);
  EXPECT_EQ(limits[2].nominal, 0);
  EXPECT_EQ(ShareSeats(100, std::vector<SeatShare>{{0, 0, {}}})[0].nominal, 0);
}

double Sum(const SeatDivision& division) {
  return std::accumulate(division.seats.begin(), division.seats.end(), 0.0);
}

TEST(DivideSeats, LevelsGetSameFractionOfTargetWithinLimits) {
  const struct {
    double total;
    std::vector<SeatClaim> claims;
    std::vector<double> seats;
  } kCases[] = {
      {100, {{0, 100, 10}, {0, 100, 30}}, {25, 75}},
      {100, {{0, 100, 10}, {0, 60, 30}}, {40, 60}},     // the second is at its upper limit
      {100, {{50, 100, 10}, {0, 100, 30}}, {50, 50}},   // the first is at its lower limit
      {100, {{10, 20, 10}, {10, 30, 10}}, {20, 30}},    // both are at their upper limits
      {100, {{80, 100, 80}, {70, 100, 70}}, {80, 70}},  // both are at their lower limits
      {100, {{0, 100, 0}, {20, 100, 20}}, {0, 100}},
      {100, {}, {}},
  };
  for (const auto& c : kCases) {
    const SeatDivision division = DivideSeats(c.total, c.claims);
    ASSERT_EQ(division.seats.size(), c.seats.size());
    for (size_t i = 0; i < c.seats.size(); ++i) {
      EXPECT_NEAR(division.seats[i], c.seats[i], 1e-6) << i << " of " << c.total;
    }
  }
}

TEST(DivideSeats, LevelWithDemandBorrowsFromIdleLevels) {
  // workload-low is overloaded, the others are idle.
  const SeatDivision division = DivideSeats(
      600, std::vector<SeatClaim>{{50, 600, 50}, {73, 600, 73}, {25, 600, 25}, {245, 600, 5000}});
  EXPECT_NEAR(Sum(division), 600, 1e-6);
  EXPECT_NEAR(division.seats[0], 50, 1e-6);
  EXPECT_NEAR(division.seats[1], 73, 1e-6);
  EXPECT_NEAR(division.seats[2], 25, 1e-6);
  EXPECT_NEAR(division.seats[3], 452, 1e-6);
  EXPECT_LT(division.fair_fraction, 1);
}

TEST(SeatDemand, IsMeasuredOverTime) {
  SeatDemand demand(kStart);
  demand.Set(10, kStart);
  demand.Set(30, kStart + seconds(5));
  SeatDemand::Summary summary = demand.Take(kStart + seconds(10));
  EXPECT_NEAR(summary.average, 20, 1e-9);
  EXPECT_NEAR(summary.deviation, 10, 1e-9);
  EXPECT_EQ(summary.high, 30);
  // The measurement restarts with the current value.
  demand.Set(0, kStart + seconds(15));
  summary = demand.Take(kStart + seconds(20));
  EXPECT_NEAR(summary.average, 15, 1e-9);
  EXPECT_EQ(summary.high, 30);
  summary = demand.Take(kStart + seconds(30));
  EXPECT_EQ(summary.average, 0);
  EXPECT_EQ(summary.high, 0);
}

}  // namespace
}  // namespace cox::apiserver
