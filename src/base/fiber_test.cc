// SPDX-License-Identifier: Apache-2.0
#include "base/fiber.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "base/testing/test_clock.h"

namespace cox {
namespace {

using std::chrono::seconds;

// Runs fibers on the thread that calls Run.
class FiberThread {
 public:
  class Task final : public Fiber {
   public:
    Task(FiberThread& thread, std::function<void()> work)
        : Fiber(std::move(work)), thread_(thread) {}

   private:
    void MakeReady() override { thread_.Add(this); }
    FiberThread& thread_;
  };

  Fiber& Start(std::function<void()> work) {
    fibers_.push_back(std::make_unique<Task>(*this, std::move(work)));
    fibers_.back()->Resume();
    return *fibers_.back();
  }
  // Continues fibers until all have finished.
  void Run() {
    for (const auto& fiber : fibers_) {
      while (!fiber->finished()) RunOne();
    }
  }
  void RunOne() {
    Task* next = nullptr;
    {
      MutexLock lock(mu_);
      changed_.Wait(mu_, [this]() COX_REQUIRES(mu_) { return !ready_.empty(); });
      next = ready_.front();
      ready_.pop_front();
    }
    next->Resume();
  }

 private:
  void Add(Task* task) {
    MutexLock lock(mu_);
    ready_.push_back(task);
    changed_.NotifyOne();
  }

  std::vector<std::unique_ptr<Task>> fibers_;
  Mutex mu_;
  CondVar changed_;
  std::deque<Task*> ready_ COX_GUARDED_BY(mu_);
};

TEST(FiberTest, RunsUntilItWaitsAndContinuesWhenWoken) {
  FiberThread thread;
  Waiter waiter;
  std::string order;
  Fiber& fiber = thread.Start([&] {
    order += "a";
    EXPECT_EQ(waiter.Block(Waiter::kNever), WakeCause::kNotified);
    order += "c";
  });
  order += "b";
  EXPECT_FALSE(fiber.finished());
  waiter.Wake(WakeCause::kNotified);
  EXPECT_EQ(order, "ab") << "the fiber continues only when its thread resumes it";
  thread.RunOne();
  EXPECT_EQ(order, "abc");
  EXPECT_TRUE(fiber.finished());
}

TEST(FiberTest, DoesNotWaitIfItWasAlreadyWoken) {
  FiberThread thread;
  Waiter waiter;
  waiter.Wake(WakeCause::kStopped);
  WakeCause cause = WakeCause::kNotified;
  EXPECT_TRUE(thread.Start([&] { cause = waiter.Block(Waiter::kNever); }).finished());
  EXPECT_EQ(cause, WakeCause::kStopped);
}

TEST(FiberTest, CurrentIsTheRunningFiber) {
  FiberThread thread;
  Waiter waiter;
  std::vector<Fiber*> seen;
  EXPECT_EQ(Fiber::Current(), nullptr);
  Fiber& fiber = thread.Start([&] {
    seen.push_back(Fiber::Current());
    waiter.Block(Waiter::kNever);
    seen.push_back(Fiber::Current());
  });
  EXPECT_EQ(Fiber::Current(), nullptr);
  waiter.Wake(WakeCause::kNotified);
  thread.Run();
  EXPECT_EQ(seen, (std::vector<Fiber*>{&fiber, &fiber}));
  EXPECT_EQ(Fiber::Current(), nullptr);
}

TEST(FiberTest, OneThreadRunsManyWaitingFibers) {
  FiberThread thread;
  Mutex mu;
  CondVar changed;
  int arrived = 0;
  constexpr int kFibers = 1000;
  for (int i = 0; i < kFibers; ++i) {
    thread.Start([&] {
      MutexLock lock(mu);
      ++arrived;
      changed.Wait(mu, [&] { return arrived == kFibers; });
      if (arrived == kFibers) changed.NotifyAll();
    });
  }
  EXPECT_EQ(arrived, kFibers);
  thread.Run();
}

TEST(FiberTest, IsWokenByOtherThreads) {
  FiberThread thread;
  Mutex mu;
  CondVar changed;
  int value = 0;
  constexpr int kRounds = 200;
  std::jthread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      MutexLock lock(mu);
      changed.Wait(mu, [&] { return value == 2 * i + 1; });
      ++value;
      changed.NotifyAll();
    }
  });
  thread.Start([&] {
    for (int i = 0; i < kRounds; ++i) {
      MutexLock lock(mu);
      ++value;
      changed.NotifyAll();
      changed.Wait(mu, [&] { return value == 2 * i + 2; });
    }
  });
  thread.Run();
  EXPECT_EQ(value, 2 * kRounds);
}

TEST(FiberTest, DeadlineOfTheSystemClockEndsTheWait) {
  RealClock clock;
  const Context ctx(clock);
  FiberThread thread;
  Status slept = Status::Internal("not run");
  bool notified = true;
  Mutex mu;
  CondVar changed;
  thread.Start([&] {
    slept = ctx.Sleep(std::chrono::milliseconds(1));
    MutexLock lock(mu);
    notified = changed.WaitUntil(mu, clock, clock.In(std::chrono::milliseconds(1)), {},
                                 [] { return false; });
  });
  thread.Run();
  EXPECT_TRUE(slept.ok());
  EXPECT_FALSE(notified);
}

TEST(FiberTest, DeadlineOfATestClockEndsTheWait) {
  TestClock clock;
  const Context ctx(clock);
  FiberThread thread;
  Status slept = Status::Internal("not run");
  Fiber& fiber = thread.Start([&] { slept = ctx.Sleep(seconds(5)); });
  EXPECT_EQ(clock.waiters(), 1U);
  clock.Advance(seconds(4));
  EXPECT_FALSE(fiber.finished());
  clock.Advance(seconds(1));
  thread.Run();
  EXPECT_TRUE(slept.ok());
}

TEST(FiberTest, StopOfTheContextEndsTheWait) {
  TestClock clock;
  Context ctx(clock);
  FiberThread thread;
  Status slept;
  thread.Start([&] { slept = ctx.Sleep(seconds(5)); });
  ctx.Stop();
  thread.Run();
  EXPECT_TRUE(slept.Is(Reason::kServiceUnavailable));
}

TEST(FiberTest, CapturesAreDestroyedOnItsStack) {
  FiberThread thread;
  Fiber* destroyed_on = nullptr;
  struct Captured {
    explicit Captured(Fiber** where) : where(where) {}
    ~Captured() { *where = Fiber::Current(); }
    Fiber** where;
  };
  auto captured = std::make_shared<Captured>(&destroyed_on);
  Fiber& fiber = thread.Start([captured = std::move(captured)] {});
  EXPECT_EQ(destroyed_on, &fiber);
}

// The volatile array keeps the compiler from removing the frames.
size_t UseStack(size_t bytes) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(bytes);
  if (bytes <= sizeof(frame)) return static_cast<size_t>(frame[0]);
  const size_t used = UseStack(bytes - sizeof(frame));
  return used + static_cast<size_t>(frame[0]);
}

TEST(FiberTest, StackIsAsLargeAsThatOfAThread) {
  FiberThread thread;
  // Sanitizers enlarge the frames.
  EXPECT_TRUE(thread.Start([] { UseStack(fiber_stacks::kSize / 8); }).finished());
}

TEST(FiberTest, StacksAreReusedAndTheirNumberIsLimited) {
  FiberThread thread;
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (size_t i = 0; i < fiber_stacks::kKept + 10; ++i) {
    waiters.push_back(std::make_unique<Waiter>());
    thread.Start([&waiter = *waiters.back()] { waiter.Block(Waiter::kNever); });
  }
  for (const auto& waiter : waiters) waiter->Wake(WakeCause::kNotified);
  thread.Run();
  EXPECT_EQ(fiber_stacks::kept(), fiber_stacks::kKept);
  for (size_t i = 0; i < 10; ++i) thread.Start([] {});
  EXPECT_EQ(fiber_stacks::kept(), fiber_stacks::kKept);
}

TEST(FiberTest, StackReleasesMemoryOfDeepCalls) {
  FiberThread thread;
  char* deep = nullptr;
  for (int i = 0; i <= fiber_stacks::kUsesPerTrim; ++i) {
    thread.Start([&deep, i] {
      char* const here = static_cast<char*>(__builtin_frame_address(0));
      char* const there = here - fiber_stacks::kSize / 2;
      if (i == 0) {
        *there = 'x';
        deep = there;
      } else if (i == fiber_stacks::kUsesPerTrim) {
        ASSERT_EQ(there, deep) << "another stack was used";
        EXPECT_EQ(*there, 0) << "the page was not released";
      }
    });
  }
}

#ifndef NDEBUG
TEST(FiberDeathTest, MustNotWaitWhileItHoldsAMutex) {
  FiberThread thread;
  Mutex held;
  Waiter waiter;
  EXPECT_DEATH(thread.Start([&] {
    MutexLock lock(held);
    waiter.Block(Waiter::kNever);
  }),
               "waits while its caller holds 1 Mutexes");
}
#endif

}  // namespace
}  // namespace cox
