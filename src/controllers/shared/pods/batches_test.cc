// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/batches.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "base/mutex.h"
#include "base/testing/test_clock.h"

namespace cox::controllers::pods {
namespace {

class BatchesTest : public testing::Test {
 protected:
  TestClock clock;
  Context ctx{clock};
  Batches batches{ctx, "test", 4};
};

TEST_F(BatchesTest, EveryNumberIsCalledOnce) {
  Mutex mu;
  std::multiset<size_t> seen;
  const auto outcome = batches.SlowStart(100, [&](size_t i) {
    MutexLock lock(mu);
    seen.insert(i);
    return Status();
  });
  EXPECT_EQ(outcome.succeeded, 100);
  EXPECT_EQ(outcome.tried, 100);
  EXPECT_TRUE(outcome.error.ok());
  ASSERT_EQ(seen.size(), 100);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(seen.count(i), 1) << i;
}

TEST_F(BatchesTest, ZeroCountCallsNothing) {
  EXPECT_EQ(batches.SlowStart(0, [](size_t) { return Status::Internal("called"); }).tried, 0);
}

TEST_F(BatchesTest, StopsAfterBatchWithFailure) {
  const struct {
    size_t fails;  // first number that fails; all later ones fail too
    size_t tried, succeeded;
  } kCases[] = {{0, 1, 0}, {1, 3, 1}, {2, 3, 2}, {3, 7, 3}, {6, 7, 6}, {7, 15, 7}, {99, 100, 99}};
  for (const auto& c : kCases) {
    std::atomic<size_t> called = 0;
    const auto outcome = batches.SlowStart(100, [&](size_t i) {
      ++called;
      return i >= c.fails ? Status::Forbidden("quota " + std::to_string(i)) : Status();
    });
    EXPECT_EQ(outcome.tried, c.tried) << c.fails;
    EXPECT_EQ(outcome.succeeded, c.succeeded) << c.fails;
    EXPECT_EQ(called, c.tried) << c.fails;
    EXPECT_EQ(outcome.error.message(), "quota " + std::to_string(c.fails));
  }
}

// The four calls of a batch wait for each other, which only succeeds if they run in parallel.
TEST_F(BatchesTest, BatchRunsInParallel) {
  Mutex mu;
  CondVar changed;
  int running = 0;
  const auto outcome = batches.SlowStart(7, [&](size_t i) {
    if (i < 3) return Status();
    MutexLock lock(mu);
    ++running;
    changed.NotifyAll();
    changed.Wait(mu, [&] { return running == 4; });
    return Status();
  });
  EXPECT_EQ(outcome.succeeded, 7);
}

}  // namespace
}  // namespace cox::controllers::pods
