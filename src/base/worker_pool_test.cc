// SPDX-License-Identifier: Apache-2.0
#include "base/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/testing/test_clock.h"

namespace cox {
namespace {

class Latch {
 public:
  void Open() {
    MutexLock lock(mu_);
    open_ = true;
    changed_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mu_);
    while (!open_) changed_.Wait(mu_);
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool open_ COX_GUARDED_BY(mu_) = false;
};

TEST(WorkerPoolTest, RunsAllTasksWithinThreadLimit) {
  RealClock clock;
  Context ctx(clock);
  // Declared before the pool, whose threads use them until it is destroyed.
  std::atomic<int> done = 0;
  Latch last;
  WorkerPool pool(ctx, {.max_threads = 3});
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(pool.Submit([&] {
      if (++done == 200) last.Open();
    }));
  }
  last.Wait();
  EXPECT_LE(pool.threads(), 3u);
}

TEST(WorkerPoolTest, BlockedTaskDoesNotDelayOthers) {
  RealClock clock;
  Context ctx(clock);
  Latch blocked, other;
  WorkerPool pool(ctx, {.max_threads = 2});
  ASSERT_TRUE(pool.Submit([&] { blocked.Wait(); }));
  ASSERT_TRUE(pool.Submit([&] { other.Open(); }));
  other.Wait();
  blocked.Open();
}

TEST(WorkerPoolTest, SubmitFailsWhenQueueIsFullAndAfterStop) {
  RealClock clock;
  Context ctx(clock);
  Latch running, blocked;
  WorkerPool pool(ctx, {.max_threads = 1, .max_queue = 1});
  ASSERT_TRUE(pool.Submit([&] {
    running.Open();
    blocked.Wait();
  }));
  running.Wait();
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_FALSE(pool.Submit([] {}));
  blocked.Open();
  pool.Stop();
  EXPECT_FALSE(pool.Submit([] {}));
  EXPECT_EQ(pool.threads(), 0u);
}

}  // namespace
}  // namespace cox
