// SPDX-License-Identifier: Apache-2.0
#include "net/io/event_loop.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/context.h"
#include "base/testing/test_clock.h"

namespace cox::net {
namespace {

class CountingTask final : public LoopTask {
 public:
  std::atomic<int> handed = 0;
  std::atomic<int> seen = 0;
  std::atomic<int> runs = 0;

 private:
  void Run() override {
    ++runs;
    seen = handed.load();
  }
};

TEST(EventLoop, TaskEnqueuedRepeatedlyRunsOnce) {
  TestClock clock;
  auto loop = std::make_shared<EventLoop>(clock);
  loop->AdoptThisThread();
  const auto task = std::make_shared<CountingTask>();
  for (int i = 0; i < 100; ++i) loop->Enqueue(task);
  loop->Poll();
  EXPECT_EQ(task->runs, 1);
  loop->Enqueue(task);
  loop->Poll();
  EXPECT_EQ(task->runs, 2);
}

TEST(EventLoop, NoTaskFromConcurrentThreadsIsLost) {
  TestClock clock;
  auto loop = std::make_shared<EventLoop>(clock);
  ASSERT_TRUE(loop->Start("test").ok());
  std::vector<std::shared_ptr<CountingTask>> tasks;
  for (int i = 0; i < 50; ++i) tasks.push_back(std::make_shared<CountingTask>());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        for (const auto& task : tasks) {
          ++task->handed;
          loop->Enqueue(task);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::atomic<bool> flushed = false;
  loop->Post([&] {
    flushed = true;
    flushed.notify_all();
  });
  flushed.wait(false);
  for (const auto& task : tasks) EXPECT_EQ(task->seen, 2000);
  loop->Stop();
}

TEST(EventLoop, TasksAfterStopAreDroppedAndFreed) {
  TestClock clock;
  auto loop = std::make_shared<EventLoop>(clock);
  ASSERT_TRUE(loop->Start("test").ok());
  loop->Stop();
  auto task = std::make_shared<CountingTask>();
  loop->Enqueue(task);
  EXPECT_EQ(task->runs, 0);
  EXPECT_EQ(task.use_count(), 1);
}

TEST(EventLoop, HttpDateHasTheRequiredFormat) {
  TestClock clock;
  EventLoop loop(clock);
  EXPECT_EQ(loop.HttpDate(), "Wed, 02 Jan 2030 03:04:05 GMT");
  clock.Advance(std::chrono::hours(24 * 40));
  EXPECT_EQ(loop.HttpDate(), "Mon, 11 Feb 2030 03:04:05 GMT");
}

class CountingFlush final : public Flushable {
 public:
  void Flush() override { ++flushes; }
  int flushes = 0;
};

TEST(EventLoop, FlushRequestsAreCoalesced) {
  TestClock clock;
  EventLoop loop(clock);
  loop.AdoptThisThread();
  const auto output = std::make_shared<CountingFlush>();
  for (int i = 0; i < 10; ++i) loop.FlushSoon(*output);
  EXPECT_EQ(output->flushes, 0);
  loop.Poll();
  EXPECT_EQ(output->flushes, 1);
  loop.Poll();
  EXPECT_EQ(output->flushes, 1);
}

TEST(EventLoopFiberTest, RunsAtOnceOnTheLoopUntilItWaits) {
  TestClock clock;
  auto loop = std::make_shared<EventLoop>(clock);
  loop->AdoptThisThread();
  const Context ctx(clock);
  std::string order;
  loop->RunFiber([&] {
    EXPECT_EQ(EventLoop::OfFiber(), loop.get());
    order += "a";
    EXPECT_TRUE(ctx.Sleep(std::chrono::seconds(1)).ok());
    order += "c";
  });
  EXPECT_EQ(EventLoop::OfFiber(), nullptr);
  order += "b";
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(order, "ab");
  loop->Poll();
  EXPECT_EQ(order, "abc");
}

TEST(EventLoopFiberTest, NestedFiberStartsAfterTheFiberThatRequestedIt) {
  TestClock clock;
  auto loop = std::make_shared<EventLoop>(clock);
  loop->AdoptThisThread();
  std::string order;
  loop->RunFiber([&] {
    loop->RunFiber([&] { order += "b"; });
    order += "a";
  });
  loop->Poll();
  EXPECT_EQ(order, "ab");
}

TEST(EventLoopFiberTest, FibersThatContinueInOneBatchShareOneFlush) {
  TestClock clock;
  auto loop = std::make_shared<EventLoop>(clock);
  loop->AdoptThisThread();
  const Context ctx(clock);
  const auto output = std::make_shared<CountingFlush>();
  for (int i = 0; i < 10; ++i) {
    loop->RunFiber([&] {
      EXPECT_TRUE(ctx.Sleep(std::chrono::seconds(1)).ok());
      loop->FlushSoon(*output);
    });
  }
  clock.Advance(std::chrono::seconds(1));
  loop->Poll();
  EXPECT_EQ(output->flushes, 1);
}

TEST(EventLoopFiberTest, StopWaitsForTheFibers) {
  RealClock clock;
  Context ctx(clock);
  auto loop = std::make_shared<EventLoop>(clock);
  ASSERT_TRUE(loop->Start("test").ok());
  std::atomic<int> ended = 0;
  for (int i = 0; i < 10; ++i) {
    loop->RunFiber([&] {
      EXPECT_FALSE(ctx.Sleep(std::chrono::hours(1)).ok());
      // Stopping takes a while.
      EXPECT_TRUE(Context(clock).Sleep(std::chrono::milliseconds(1)).ok());
      ++ended;
    });
  }
  ctx.Stop();
  loop->Stop();
  EXPECT_EQ(ended, 10);
}

}  // namespace
}  // namespace cox::net
