// SPDX-License-Identifier: Apache-2.0
#include "base/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/testing/test_clock.h"

namespace cox {
namespace {

using std::chrono::seconds;

struct Guarded {
  Mutex mu;
  CondVar changed;
  int value COX_GUARDED_BY(mu) = 0;
};

TEST(Mutex, ExcludesOtherThreads) {
  Guarded g;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          MutexLock lock(g.mu);
          ++g.value;
        }
      });
    }
  }
  MutexLock lock(g.mu);
  EXPECT_EQ(g.value, 4000);
}

TEST(Mutex, TryLockFailsWhileHeld) {
  Mutex mu;
  MutexLock lock(mu);
  std::jthread([&] {
    if (mu.TryLock()) {
      mu.Unlock();
      ADD_FAILURE();
    }
  }).join();
}

TEST(MutexLock, UnlocksTemporarily) {
  Mutex mu;
  MutexLock lock(mu);
  lock.Unlock();
  std::jthread([&] { MutexLock inner(mu); }).join();
  lock.Lock();
}

TEST(SharedMutex, ReadersShareAndWritersExclude) {
  SharedMutex mu;
  int value = 0;
  {
    ReaderLock lock(mu);
    std::jthread([&] {
      ReaderLock inner(mu);
    }).join();  // would hang if readers excluded each other
  }
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          WriterLock lock(mu);
          ++value;
        }
      });
    }
  }
  EXPECT_EQ(value, 2000);
}

TEST(CondVar, WaitReturnsWhenConditionIsTrue) {
  Guarded g;
  std::jthread setter([&] {
    MutexLock lock(g.mu);
    g.value = 7;
    g.changed.NotifyAll();
  });
  MutexLock lock(g.mu);
  g.changed.Wait(g.mu, [&]() COX_REQUIRES(g.mu) { return g.value == 7; });
  EXPECT_EQ(g.value, 7);
}

TEST(CondVar, DeadlineWithTestClock) {
  Guarded g;
  TestClock clock;
  std::jthread advance([&] {
    clock.WaitForWaiters(1);
    clock.Advance(seconds(10));
  });
  MutexLock lock(g.mu);
  EXPECT_EQ(g.changed.WaitUntil(g.mu, clock, clock.In(seconds(10))), WakeCause::kTimeout);
}

TEST(CondVar, DeadlineWithRealClock) {
  Guarded g;
  RealClock clock;
  MutexLock lock(g.mu);
  EXPECT_EQ(g.changed.WaitUntil(g.mu, clock, clock.In(std::chrono::milliseconds(1))),
            WakeCause::kTimeout);
}

TEST(CondVar, NotificationBeforeTheDeadline) {
  Guarded g;
  TestClock clock;
  std::jthread notifier([&] {
    clock.WaitForWaiters(1);
    MutexLock lock(g.mu);
    g.value = 1;
    g.changed.NotifyOne();
  });
  MutexLock lock(g.mu);
  EXPECT_TRUE(g.changed.WaitUntil(g.mu, clock, clock.In(seconds(10)), {},
                                  [&]() COX_REQUIRES(g.mu) { return g.value == 1; }));
}

TEST(CondVar, PredicateIsCheckedOnceMoreAfterTheDeadline) {
  Guarded g;
  TestClock clock;
  std::jthread late([&] {
    clock.WaitForWaiters(1);
    {
      MutexLock lock(g.mu);
      g.value = 1;  // without a notification
    }
    clock.Advance(seconds(10));
  });
  MutexLock lock(g.mu);
  EXPECT_TRUE(g.changed.WaitUntil(g.mu, clock, clock.In(seconds(10)), {},
                                  [&]() COX_REQUIRES(g.mu) { return g.value == 1; }));
  EXPECT_FALSE(g.changed.WaitUntil(g.mu, clock, clock.Monotonic(), {}, [] { return false; }));
}

TEST(CondVar, StopRequestEndsTheWait) {
  Guarded g;
  TestClock clock;
  std::stop_source stop;
  std::jthread stopper([&] {
    clock.WaitForWaiters(1);
    stop.request_stop();
  });
  MutexLock lock(g.mu);
  EXPECT_EQ(g.changed.WaitUntil(g.mu, clock, clock.In(seconds(10)), stop.get_token()),
            WakeCause::kStopped);
  EXPECT_EQ(g.changed.WaitUntil(g.mu, clock, Clock::kNever, stop.get_token()), WakeCause::kStopped)
      << "an earlier request counts, too";
}

TEST(CondVar, NotifyOneWakesTheLongestWaiterOnly) {
  Guarded g;
  TestClock clock;
  std::vector<int> order;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      MutexLock lock(g.mu);
      if (g.changed.WaitUntil(g.mu, clock, clock.In(seconds(10))) == WakeCause::kNotified) {
        order.push_back(t);
      }
    });
    clock.WaitForWaiters(static_cast<size_t>(t) + 1);
  }
  g.changed.NotifyOne();
  threads[0].join();
  g.changed.NotifyOne();
  threads[1].join();
  EXPECT_EQ(clock.waiters(), 1u);
  clock.Advance(seconds(10));
  threads[2].join();
  EXPECT_EQ(order, (std::vector<int>{0, 1}));
}

TEST(CondVar, NotifyOneSkipsWaiterThatTimedOut) {
  Guarded g;
  TestClock clock;
  WakeCause second = WakeCause::kTimeout;
  std::jthread a([&] {
    MutexLock lock(g.mu);
    g.changed.WaitUntil(g.mu, clock, clock.In(seconds(1)));
  });
  clock.WaitForWaiters(1);
  std::jthread b([&] {
    MutexLock lock(g.mu);
    second = g.changed.WaitUntil(g.mu, clock, clock.In(seconds(100)));
  });
  clock.WaitForWaiters(2);
  clock.Advance(seconds(1));  // `a` is woken, but may still be in the list
  g.changed.NotifyOne();
  b.join();
  EXPECT_EQ(second, WakeCause::kNotified);
}

TEST(CondVar, NotifyAllWakesAllWaiters) {
  Guarded g;
  TestClock clock;
  int woken = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 5; ++t) {
    threads.emplace_back([&] {
      MutexLock lock(g.mu);
      if (g.changed.WaitUntil(g.mu, clock, clock.In(seconds(1))) == WakeCause::kNotified) ++woken;
    });
  }
  clock.WaitForWaiters(5);
  g.changed.NotifyAll();
  threads.clear();
  EXPECT_EQ(woken, 5);
}

TEST(CondVar, NoWakeUpIsLostBetweenProducersAndConsumers) {
  Guarded g;
  constexpr int kItems = 2000;
  int consumed = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        MutexLock lock(g.mu);
        while (consumed < kItems) {
          g.changed.Wait(g.mu,
                         [&]() COX_REQUIRES(g.mu) { return g.value > 0 || consumed == kItems; });
          if (g.value == 0) return;
          --g.value;
          if (++consumed == kItems) g.changed.NotifyAll();
        }
      });
    }
    for (int i = 0; i < kItems; ++i) {
      MutexLock lock(g.mu);
      ++g.value;
      g.changed.NotifyOne();
    }
  }
  EXPECT_EQ(consumed, kItems);
}

}  // namespace
}  // namespace cox
