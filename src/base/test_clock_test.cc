// SPDX-License-Identifier: Apache-2.0
#include "base/testing/test_clock.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

namespace cox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(TestClock, TimeChangesOnlyByAdvance) {
  TestClock clock;
  const auto steady = clock.Monotonic();
  EXPECT_EQ(clock.Now(), TestClock::kStart);
  EXPECT_EQ(clock.Monotonic(), steady);
  clock.Advance(seconds(3));
  EXPECT_EQ(clock.Now(), TestClock::kStart + seconds(3));
  EXPECT_EQ(clock.Monotonic(), steady + seconds(3));
}

TEST(TestClock, SetWallTimeKeepsMonotonicTime) {
  TestClock clock;
  const auto steady = clock.Monotonic();
  clock.SetWallTime(TestClock::kStart - std::chrono::hours(24));
  EXPECT_EQ(clock.Now(), TestClock::kStart - std::chrono::hours(24));
  EXPECT_EQ(clock.Monotonic(), steady);
}

TEST(TestClock, RunsTimersInOrderAtTheirDueTimes) {
  TestClock clock;
  const auto start = clock.Monotonic();
  std::vector<std::pair<int, Clock::Duration>> fired;
  auto record = [&](int n) { return [&, n] { fired.emplace_back(n, clock.Monotonic() - start); }; };
  Timer c = clock.After(seconds(3), record(3));
  Timer a = clock.After(seconds(1), record(1));
  Timer b1 = clock.After(seconds(2), record(21));
  Timer b2 = clock.After(seconds(2), record(22));
  Timer never = clock.After(seconds(5), record(5));
  clock.Advance(seconds(4));
  const std::vector<std::pair<int, Clock::Duration>> want = {
      {1, seconds(1)}, {21, seconds(2)}, {22, seconds(2)}, {3, seconds(3)}};
  EXPECT_EQ(fired, want);
  EXPECT_EQ(clock.timers(), 1u);
}

TEST(TestClock, TimerRunsExactlyAtItsDueTime) {
  TestClock clock;
  int fired = 0;
  Timer timer = clock.After(seconds(1), [&] { ++fired; });
  clock.Advance(seconds(1) - std::chrono::nanoseconds(1));
  EXPECT_EQ(fired, 0);
  clock.Advance(std::chrono::nanoseconds(1));
  EXPECT_EQ(fired, 1);
  clock.Advance(seconds(10));
  EXPECT_EQ(fired, 1);
}

TEST(TestClock, TimersAddedByCallbacksRunInTheSameAdvance) {
  TestClock clock;
  int ticks = 0;
  Timer timer;
  std::function<void()> tick = [&] {
    ++ticks;
    timer = clock.After(seconds(1), tick);
  };
  timer = clock.After(seconds(1), tick);
  clock.Advance(seconds(10));
  EXPECT_EQ(ticks, 10);
}

TEST(TestClock, OverdueTimerRunsInTheNextAdvance) {
  TestClock clock;
  int fired = 0;
  Timer timer = clock.After(seconds(-1), [&] { ++fired; });
  EXPECT_EQ(fired, 0);
  const auto before = clock.Monotonic();
  clock.Advance(seconds(0));
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(clock.Monotonic(), before) << "never back";
}

TEST(TestClock, DestroyedTimerDoesNotRun) {
  TestClock clock;
  int fired = 0;
  {
    Timer timer = clock.After(seconds(1), [&] { ++fired; });
  }
  clock.Advance(seconds(2));
  EXPECT_EQ(fired, 0);
  EXPECT_EQ(clock.timers(), 0u);
}

TEST(TestClock, CallbackMayCancelALaterTimer) {
  TestClock clock;
  int fired = 0;
  Timer victim;
  Timer killer = clock.After(seconds(1), [&] { victim.Cancel(); });
  victim = clock.After(seconds(2), [&] { ++fired; });
  clock.Advance(seconds(5));
  EXPECT_EQ(fired, 0);
}

TEST(TestClock, WaiterWithAPastDeadlineDoesNotBlock) {
  TestClock clock;
  Waiter waiter;
  EXPECT_EQ(clock.Park(waiter, clock.Monotonic()), WakeCause::kTimeout);
}

TEST(TestClock, AdvanceWakesWaitersThatAreDue) {
  TestClock clock;
  WakeCause cause = WakeCause::kNotified;
  Clock::SteadyTime woke;
  std::jthread sleeper([&] {
    Waiter waiter;
    cause = clock.Park(waiter, clock.In(seconds(5)));
    woke = clock.Monotonic();
  });
  clock.WaitForWaiters(1);
  clock.Advance(seconds(4));
  EXPECT_EQ(clock.waiters(), 1u);
  clock.Advance(seconds(1));
  EXPECT_EQ(clock.waiters(), 0u) << "woken counts as gone at once";
  sleeper.join();
  EXPECT_EQ(cause, WakeCause::kTimeout);
  EXPECT_EQ(woke, clock.Monotonic());
}

TEST(TestClock, WaitForWaitersSeesThreadsThatBlockAgain) {
  TestClock clock;
  int rounds = 0;
  std::jthread worker([&] {
    for (int i = 0; i < 50; ++i) {
      Waiter waiter;
      clock.Park(waiter, clock.In(milliseconds(10)));
      ++rounds;
    }
  });
  for (int i = 0; i < 50; ++i) {
    clock.WaitForWaiters(1);
    clock.Advance(milliseconds(10));
  }
  worker.join();
  EXPECT_EQ(rounds, 50);
}

TEST(TestClock, NotifiedWaiterIsNotCountedAsBlocked) {
  TestClock clock;
  Waiter waiter;
  std::jthread sleeper([&] { clock.Park(waiter, clock.In(seconds(5))); });
  clock.WaitForWaiters(1);
  waiter.Wake(WakeCause::kNotified);
  EXPECT_EQ(clock.waiters(), 0u);
}

TEST(TestClock, WaitersWithoutDeadlineAreNotCounted) {
  TestClock clock;
  Waiter waiter;
  std::jthread sleeper([&] { EXPECT_EQ(clock.Park(waiter, Clock::kNever), WakeCause::kNotified); });
  clock.Advance(std::chrono::hours(24 * 365));
  EXPECT_EQ(clock.waiters(), 0u);
  waiter.Wake(WakeCause::kNotified);
}

TEST(TestClock, WaitForTimersSeesTimerOfAnotherThread) {
  TestClock clock;
  std::optional<Timer> timer;
  int fired = 0;
  std::jthread adder([&] { timer = clock.After(seconds(1), [&] { ++fired; }); });
  clock.WaitForTimers(1);
  adder.join();
  clock.Advance(seconds(1));
  EXPECT_EQ(fired, 1);
}

TEST(TestClock, HugeAdvanceDoesNotReachNever) {
  TestClock clock;
  Timer never = clock.After(Clock::Duration::max(), [] { FAIL(); });
  clock.Advance(std::chrono::hours(24 * 365 * 100));
  EXPECT_EQ(clock.timers(), 1u);
}

TEST(TestClockDeathTest, NegativeAdvanceAborts) {
  TestClock clock;
  EXPECT_DEATH(clock.Advance(seconds(-1)), "time does not run backwards");
}

}  // namespace
}  // namespace cox
