// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cox {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(RealClock, MonotonicNeverDecreases) {
  RealClock clock;
  Clock::SteadyTime last = clock.Monotonic();
  for (int i = 0; i < 1000; ++i) {
    const Clock::SteadyTime now = clock.Monotonic();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RealClock, NowIsSystemTime) {
  RealClock clock;
  const auto before = std::chrono::system_clock::now();
  const auto now = clock.Now();
  EXPECT_GE(now, before);
  EXPECT_LE(now, std::chrono::system_clock::now());
}

TEST(RealClock, InSaturatesInsteadOfOverflowing) {
  RealClock clock;
  EXPECT_EQ(clock.In(Clock::Duration::max()), Clock::kNever);
  EXPECT_LT(clock.In(hours(1)), Clock::kNever);
  EXPECT_LE(clock.In(seconds(-1)), clock.Monotonic());
}

TEST(RealClock, RunsTimersInOrderOfDueTime) {
  RealClock clock;
  std::promise<void> done;
  std::vector<int> order;  // written by the timer thread only, until `done`
  const auto start = clock.Monotonic();
  std::promise<void> added;  // delays all timers until both are added
  Timer gate = clock.After(hours(-2), [&] { added.get_future().wait(); });
  Timer late = clock.After(std::chrono::milliseconds(20), [&] {
    order.push_back(2);
    done.set_value();
  });
  Timer early = clock.After(hours(-1), [&] { order.push_back(1); });
  added.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_GE(clock.Monotonic() - start, std::chrono::milliseconds(20));
}

TEST(RealClock, NonPositiveDelayRunsSoon) {
  RealClock clock;
  std::promise<void> zero, negative;
  Timer a = clock.After(nanoseconds(0), [&] { zero.set_value(); });
  Timer b = clock.After(seconds(-5), [&] { negative.set_value(); });
  zero.get_future().wait();
  negative.get_future().wait();
}

// How often the threads of that name have blocked. There must be one.
int64_t SwitchesOfThreads(std::string_view name) {
  int64_t switches = 0;
  int threads = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    bool matches = false;
    for (std::string key, value; status >> key && std::getline(status >> std::ws, value);) {
      if (key == "Name:") matches = value == name;
      if (key == "Name:" && matches) ++threads;
      if (matches && key == "voluntary_ctxt_switches:") switches += std::stoll(value);
    }
  }
  EXPECT_GT(threads, 0) << name;
  return switches;
}

TEST(RealClock, TimerThatIsNotTheNextOneDoesNotWakeTheThread) {
  RealClock clock;
  const Timer next = clock.After(hours(1), [] {});
  std::promise<void> started;
  const Timer first = clock.After(nanoseconds(0), [&] { started.set_value(); });
  started.get_future().wait();
  const int64_t before = SwitchesOfThreads("timers");
  for (int i = 0; i < 20'000; ++i) (void)clock.After(hours(2), [] {}).Cancel();
  EXPECT_LT(SwitchesOfThreads("timers") - before, 50);
}

TEST(RealClock, DestroyedTimerNeverRuns) {
  RealClock clock;
  std::atomic<bool> ran = false;
  {
    Timer timer = clock.After(hours(1), [&] { ran = true; });
  }
  Timer other = clock.After(hours(1), [&] { ran = true; });
  EXPECT_TRUE(other.Cancel());
  EXPECT_FALSE(other.Cancel()) << "nothing left to cancel";
  EXPECT_FALSE(ran);
}

TEST(RealClock, CancelWaitsForARunningCallback) {
  RealClock clock;
  std::promise<void> entered, proceed;
  std::atomic<bool> finished = false;
  Timer timer = clock.After(nanoseconds(0), [&] {
    entered.set_value();
    proceed.get_future().wait();
    finished = true;
  });
  entered.get_future().wait();
  std::jthread release([&] { proceed.set_value(); });
  EXPECT_FALSE(timer.Cancel());
  EXPECT_TRUE(finished);
}

TEST(RealClock, CallbackMayDestroyItsOwnHandle) {
  RealClock clock;
  std::promise<void> assigned, done;
  std::optional<Timer> timer;
  timer = clock.After(nanoseconds(0), [&] {
    assigned.get_future().wait();
    timer.reset();
    done.set_value();
  });
  assigned.set_value();
  done.get_future().wait();
}

TEST(RealClock, DestroyedClockDropsTimersAndHandlesMayOutliveIt) {
  auto payload = std::make_shared<int>(1);
  Timer timer;
  {
    RealClock clock;
    timer = clock.After(hours(1), [payload] {});
    EXPECT_EQ(payload.use_count(), 2);
  }
  EXPECT_EQ(payload.use_count(), 1) << "the callback was dropped";
  EXPECT_FALSE(timer.Cancel());
}

TEST(RealClock, CancelledCallbackIsDestroyed) {
  RealClock clock;
  auto payload = std::make_shared<int>(1);
  Timer timer = clock.After(hours(1), [payload] {});
  timer.Cancel();
  EXPECT_EQ(payload.use_count(), 1);
}

TEST(Timer, AssignmentCancelsThePreviousTimer) {
  RealClock clock;
  auto first = std::make_shared<int>(1);
  Timer timer = clock.After(hours(1), [first] {});
  timer = clock.After(hours(1), [] {});
  EXPECT_EQ(first.use_count(), 1);
  Timer& self = timer;
  timer = std::move(self);
  EXPECT_TRUE(timer.Cancel());
}

}  // namespace
}  // namespace cox
