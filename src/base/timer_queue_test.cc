// SPDX-License-Identifier: Apache-2.0
#include "base/timer_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "base/testing/test_clock.h"

namespace cox::internal {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;

Clock::SteadyTime At(int second) { return Clock::SteadyTime(seconds(second)); }

// Runs WaitUntilDue and RunFirst on a thread, as RealClock does.
class WaitingTimerQueueTest : public ::testing::Test {
 protected:
  ~WaitingTimerQueueTest() override {
    queue_->Close();
    thread_.join();
  }
  Timer AddIn(
      Clock::Duration delay, std::function<void()> callback = [] {}) {
    return queue_->Add(clock_.In(delay), std::move(callback));
  }

  TestClock clock_;
  std::shared_ptr<TimerQueue> queue_ = std::make_shared<TimerQueue>();
  std::thread thread_{[this] {
    while (queue_->WaitUntilDue(clock_)) queue_->RunFirst(clock_.Monotonic());
  }};
};

TEST_F(WaitingTimerQueueTest, LaterTimersDoNotWakeTheThread) {
  const Timer first = AddIn(seconds(1));
  clock_.WaitForWaiters(1);
  const size_t before = queue_->wakeups();
  for (int i = 0; i < 1000; ++i) (void)AddIn(seconds(60)).Cancel();
  std::vector<Timer> pending;
  for (int i = 0; i < 1000; ++i) pending.push_back(AddIn(seconds(1)));
  EXPECT_EQ(queue_->wakeups(), before);
  EXPECT_EQ(clock_.waiters(), 1U) << "a notified thread no longer counts";
}

TEST_F(WaitingTimerQueueTest, EarlierTimerWakesTheThread) {
  const Timer late = AddIn(hours(1));
  clock_.WaitForWaiters(1);
  Mutex mu;
  CondVar changed;
  bool ran = false;
  const Timer early = AddIn(seconds(1), [&] {
    MutexLock lock(mu);
    ran = true;
    changed.NotifyAll();
  });
  clock_.Advance(seconds(1));
  MutexLock lock(mu);
  changed.Wait(mu, [&] { return ran; });
}

TEST_F(WaitingTimerQueueTest, ThreadWaitsForTheNextTimerAfterTheFirstWasCancelled) {
  Timer first = AddIn(seconds(1));
  clock_.WaitForWaiters(1);
  Mutex mu;
  CondVar changed;
  bool ran = false;
  const Timer second = AddIn(seconds(2), [&] {
    MutexLock lock(mu);
    ran = true;
    changed.NotifyAll();
  });
  EXPECT_TRUE(first.Cancel());
  clock_.Advance(seconds(2));
  MutexLock lock(mu);
  changed.Wait(mu, [&] { return ran; });
}

TEST(TimerQueue, RunsInOrderOfDueTimeAndRegistration) {
  const auto queue = std::make_shared<TimerQueue>();
  std::vector<int> order;
  std::vector<Timer> timers;
  for (const auto& [due, name] :
       std::vector<std::pair<int, int>>{{3, 1}, {1, 2}, {2, 3}, {1, 4}, {3, 5}, {1, 6}}) {
    timers.push_back(queue->Add(At(due), [&order, name = name] { order.push_back(name); }));
  }
  EXPECT_EQ(queue->NextDue(), At(1));
  while (queue->RunFirst(At(2))) {
  }
  EXPECT_EQ(order, (std::vector<int>{2, 4, 6, 3}));
  EXPECT_EQ(queue->NextDue(), At(3));
  EXPECT_EQ(queue->size(), 2U);
}

TEST(TimerQueue, HandleOfAFinishedTimerDoesNotCancelTheNextTimer) {
  const auto queue = std::make_shared<TimerQueue>();
  Timer finished = queue->Add(At(1), [] {});
  EXPECT_TRUE(queue->RunFirst(At(1)));
  int runs = 0;
  const Timer next = queue->Add(At(1), [&runs] { ++runs; });
  EXPECT_FALSE(finished.Cancel());
  EXPECT_TRUE(queue->RunFirst(At(1)));
  EXPECT_EQ(runs, 1);
}

TEST(TimerQueue, HandlesStayDistinctAfterTheMemoryOfManyTimersWasReleased) {
  const auto queue = std::make_shared<TimerQueue>();
  std::vector<Timer> finished;
  for (int i = 0; i < 5000; ++i) finished.push_back(queue->Add(At(1), [] {}));
  while (queue->RunFirst(At(1))) {
  }
  std::vector<Timer> next;
  for (int i = 0; i < 5000; ++i) next.push_back(queue->Add(At(1), [] {}));
  for (Timer& timer : finished) EXPECT_FALSE(timer.Cancel());
  EXPECT_EQ(queue->size(), 5000U);
  for (Timer& timer : next) EXPECT_TRUE(timer.Cancel());
}

TEST(TimerQueue, BehavesLikeASortedMap) {
  const auto queue = std::make_shared<TimerQueue>();
  std::minstd_rand random(17);
  std::map<std::pair<int, int>, Timer> expected;  // by due time and number
  int ran = 0;
  int number = 0;
  for (int step = 0; step < 20'000; ++step) {
    const auto action = random() % 8;
    if (action < 4) {
      const int due = static_cast<int>(random() % 100);
      const int name = ++number;
      expected.emplace(std::pair(due, name), queue->Add(At(due), [&ran, name] { ran = name; }));
    } else if (action < 7 && !expected.empty()) {
      auto at = expected.begin();
      std::advance(at, random() % std::min<size_t>(expected.size(), 50));
      ASSERT_TRUE(at->second.Cancel());
      expected.erase(at);
    } else if (!expected.empty()) {
      const auto [due, name] = expected.begin()->first;
      ASSERT_EQ(queue->NextDue(), At(due));
      ASSERT_FALSE(queue->RunFirst(At(due) - nanoseconds(1)));
      ASSERT_TRUE(queue->RunFirst(At(due)));
      ASSERT_EQ(ran, name);
      expected.erase(expected.begin());
    }
    ASSERT_EQ(queue->size(), expected.size());
  }
}

}  // namespace
}  // namespace cox::internal
