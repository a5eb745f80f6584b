// SPDX-License-Identifier: Apache-2.0
#include "base/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

namespace cox {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Pointwise;

TEST(Counter, AddsIntegersAndFractions) {
  Counter counter;
  EXPECT_EQ(counter.value(), 0);
  counter.Inc();
  counter.Inc(41);
  counter.Add(0.5);
  counter.Add(0);
  EXPECT_EQ(counter.value(), 42.5);
}

TEST(Counter, ConcurrentIncrementsAreNotLost) {
  Counter counter;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          counter.Inc();
          counter.Add(0.5);
        }
      });
    }
  }
  EXPECT_EQ(counter.value(), 6000);
}

TEST(CounterDeathTest, NegativeIncrementAborts) {
  Counter counter;
  EXPECT_DEATH(counter.Add(-1), "does not shrink");
  EXPECT_DEATH(counter.Add(std::nan("")), "does not shrink");
}

TEST(Gauge, SetsAndAdds) {
  Gauge gauge;
  gauge.Set(5);
  gauge.Inc();
  gauge.Dec();
  gauge.Add(-7.5);
  EXPECT_EQ(gauge.value(), -2.5);
}

TEST(Histogram, BoundsAreInclusive) {
  Histogram histogram({1, 2});
  for (double value : {-1.0, 1.0, 1.0001, 2.0, 2.0001, HUGE_VAL}) histogram.Observe(value);
  EXPECT_EQ(histogram.bucket(0), 2u);
  EXPECT_EQ(histogram.bucket(1), 2u);
  EXPECT_EQ(histogram.bucket(2), 2u);
  EXPECT_EQ(histogram.sum(), HUGE_VAL);
}

TEST(Histogram, NanIsCountedInTheLastBucket) {
  Histogram histogram({1});
  histogram.Observe(std::nan(""));
  EXPECT_EQ(histogram.bucket(1), 1u);
  EXPECT_TRUE(std::isnan(histogram.sum()));
}

TEST(Histogram, ExplicitInfinityIsTheLastBucket) {
  Histogram histogram({1, HUGE_VAL});
  EXPECT_THAT(histogram.bounds(), ElementsAre(1));
  Histogram none({});
  none.Observe(3);
  EXPECT_EQ(none.bucket(0), 1u);
}

TEST(HistogramDeathTest, NonIncreasingBoundsAbort) {
  EXPECT_DEATH(Histogram({1, 1}), "bucket bounds rise");
  EXPECT_DEATH(Histogram({2, 1}), "bucket bounds rise");
  EXPECT_DEATH(Histogram({std::nan("")}), "finite");
}

TEST(Buckets, MatchUpstream) {
  EXPECT_THAT(LinearBuckets(0, 0.1, 11),
              ElementsAre(0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.5, 0.6, 0.7, 0.7999999999999999,
                          0.8999999999999999, 0.9999999999999999));
  EXPECT_THAT(ExponentialBuckets(0.001, 2, 15),
              ElementsAre(0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512,
                          1.024, 2.048, 4.096, 8.192, 16.384));
  EXPECT_THAT(ExponentialBucketsRange(1, 100, 5),
              Pointwise(DoubleEq(), {1.0, 3.1622776601683795, 10.000000000000002, 31.6227766016838,
                                     100.00000000000004}));
}

TEST(BucketsDeathTest, InvalidParametersAbort) {
  EXPECT_DEATH(LinearBuckets(0, 1, 0), "Check failed");
  EXPECT_DEATH(ExponentialBuckets(0, 2, 3), "Check failed");
  EXPECT_DEATH(ExponentialBuckets(1, 1, 3), "Check failed");
  EXPECT_DEATH(ExponentialBucketsRange(1, 100, 1), "Check failed");
}

}  // namespace
}  // namespace cox
