// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/lease_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "base/testing/test_clock.h"

namespace cox::storage::etcd {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class LeasePoolTest : public testing::Test {
 protected:
  TestClock clock_;
  Context ctx_{clock_};
  std::atomic<int64_t> granted_ = 0;
  std::vector<seconds> ttls_;
  Status failure_;
  LeasePool pool_{[this](const Context&, seconds ttl) -> Result<int64_t> {
    if (!failure_.ok()) return failure_;
    ttls_.push_back(ttl);
    return ++granted_;
  }};
};

TEST_F(LeasePoolTest, KeysWrittenCloseInTimeShareALease) {
  EXPECT_EQ(*pool_.LeaseFor(ctx_, seconds(3600)), 1);
  clock_.Advance(seconds(59));
  EXPECT_EQ(*pool_.LeaseFor(ctx_, seconds(3600)), 1);
  clock_.Advance(seconds(1));
  EXPECT_EQ(*pool_.LeaseFor(ctx_, seconds(3600)), 2);
  EXPECT_EQ(ttls_, (std::vector<seconds>{seconds(3660), seconds(3660)}));
}

TEST_F(LeasePoolTest, ShortTtlsAreExtendedByATwentieth) {
  EXPECT_EQ(*pool_.LeaseFor(ctx_, minutes(2)), 1);
  clock_.Advance(seconds(5));
  EXPECT_EQ(*pool_.LeaseFor(ctx_, minutes(2)), 1);
  clock_.Advance(seconds(1));
  EXPECT_EQ(*pool_.LeaseFor(ctx_, minutes(2)), 2);
  EXPECT_EQ(*pool_.LeaseFor(ctx_, seconds(1)), 3);
  EXPECT_EQ(ttls_, (std::vector<seconds>{seconds(126), seconds(126), seconds(2)}));
}

TEST_F(LeasePoolTest, EachTtlHasItsOwnLease) {
  EXPECT_NE(*pool_.LeaseFor(ctx_, seconds(60)), *pool_.LeaseFor(ctx_, seconds(61)));
}

TEST_F(LeasePoolTest, LeaseHasALimitedNumberOfKeys) {
  for (int i = 0; i < LeasePool::kMaxKeys; ++i) EXPECT_EQ(*pool_.LeaseFor(ctx_, minutes(60)), 1);
  EXPECT_EQ(*pool_.LeaseFor(ctx_, minutes(60)), 2);
}

TEST_F(LeasePoolTest, ForgottenLeaseIsNotReused) {
  EXPECT_EQ(*pool_.LeaseFor(ctx_, minutes(60)), 1);
  pool_.Forget(1);
  EXPECT_EQ(*pool_.LeaseFor(ctx_, minutes(60)), 2);
}

TEST_F(LeasePoolTest, FailedGrantIsReturnedAndNextCallRetries) {
  failure_ = Status::Unavailable("no etcd");
  EXPECT_EQ(pool_.LeaseFor(ctx_, minutes(60)).status(), failure_);
  failure_ = {};
  EXPECT_TRUE(pool_.LeaseFor(ctx_, minutes(60)).ok());
}

TEST_F(LeasePoolTest, ConcurrentCallersRequestOneLease) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this]() { EXPECT_EQ(*pool_.LeaseFor(ctx_, minutes(60)), 1); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted_, 1);
}

}  // namespace
}  // namespace cox::storage::etcd
