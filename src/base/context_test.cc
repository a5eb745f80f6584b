// SPDX-License-Identifier: Apache-2.0
#include "base/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/testing/test_clock.h"

namespace cox {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class ContextTest : public testing::Test {
 protected:
  TestClock clock_;
  Context root_{clock_};
};

TEST_F(ContextTest, RootRunsUntilStopped) {
  EXPECT_FALSE(root_.Done());
  EXPECT_TRUE(root_.status().ok());
  EXPECT_EQ(root_.deadline(), Clock::kNever);
  EXPECT_EQ(&root_.clock(), &clock_);
  root_.Stop();
  EXPECT_TRUE(root_.Done());
  EXPECT_EQ(root_.status(), Context::Canceled());
  EXPECT_TRUE(root_.token().stop_requested());
}

TEST_F(ContextTest, FirstReasonIsKept) {
  root_.Stop(Status::Forbidden("first"));
  root_.Stop(Status::Internal("second"));
  EXPECT_EQ(root_.status(), Status::Forbidden("first"));
}

TEST_F(ContextTest, StopReachesDescendantsButNotTheParent) {
  Context child = root_.Child();
  Context grandchild = child.Child();
  Context sibling = root_.Child();
  child.Stop(Status::Conflict("lost the lease"));
  EXPECT_EQ(grandchild.status(), Status::Conflict("lost the lease"));
  EXPECT_FALSE(root_.Done());
  EXPECT_FALSE(sibling.Done());
}

TEST_F(ContextTest, StopReachesGrandchildOfDestroyedChild) {
  Context grandchild = root_.Child().Child();
  root_.Stop();
  EXPECT_TRUE(grandchild.Done());
}

TEST_F(ContextTest, ChildOfAStoppedParentIsStopped) {
  root_.Stop(Status::Forbidden("no"));
  EXPECT_EQ(root_.Child().status(), Status::Forbidden("no"));
  EXPECT_EQ(root_.WithTimeout(hours(1)).status(), Status::Forbidden("no"));
}

TEST_F(ContextTest, TimeoutStopsTheChildOnly) {
  Context child = root_.WithTimeout(seconds(5));
  EXPECT_EQ(child.deadline(), clock_.In(seconds(5)));
  clock_.Advance(seconds(5) - std::chrono::nanoseconds(1));
  EXPECT_FALSE(child.Done());
  clock_.Advance(std::chrono::nanoseconds(1));
  EXPECT_TRUE(child.status().Is(Reason::kTimeout));
  EXPECT_EQ(child.status(), Context::DeadlineExceeded());
  EXPECT_FALSE(root_.Done());
}

TEST_F(ContextTest, EarlierDeadlineApplies) {
  Context early = root_.WithTimeout(seconds(1));
  Context late = early.WithTimeout(seconds(10));
  EXPECT_EQ(late.deadline(), early.deadline());
  EXPECT_EQ(clock_.timers(), 1u) << "the parent's timer serves both";
  clock_.Advance(seconds(1));
  EXPECT_TRUE(late.Done());
}

TEST_F(ContextTest, PastDeadlineStopsAtOnce) {
  EXPECT_EQ(root_.WithTimeout(seconds(0)).status(), Context::DeadlineExceeded());
  EXPECT_EQ(root_.WithTimeout(seconds(-1)).status(), Context::DeadlineExceeded());
  EXPECT_EQ(root_.WithDeadline(Clock::SteadyTime::min()).status(), Context::DeadlineExceeded());
  EXPECT_FALSE(root_.WithTimeout(Clock::Duration::max()).Done());
}

TEST_F(ContextTest, DestroyingContextCancelsItsTimer) {
  { Context child = root_.WithTimeout(hours(1)); }
  EXPECT_EQ(clock_.timers(), 0u);
}

TEST_F(ContextTest, CopiesReferToTheSameContext) {
  Context child = root_.Child();
  Context copy = child;
  copy.Stop();
  EXPECT_TRUE(child.Done());
}

TEST_F(ContextTest, SleepEndsWhenClockAdvances) {
  std::jthread advance([&] {
    clock_.WaitForWaiters(1);
    clock_.Advance(seconds(3));
  });
  EXPECT_TRUE(root_.Sleep(seconds(3)).ok());
}

TEST_F(ContextTest, SleepReturnsReasonWhenStopped) {
  std::jthread stopper([&] {
    clock_.WaitForWaiters(1);
    root_.Stop(Status::Unavailable("going down"));
  });
  Context child = root_.Child();
  EXPECT_EQ(child.Sleep(hours(1)), Status::Unavailable("going down"));
  EXPECT_EQ(child.Sleep(hours(1)), Status::Unavailable("going down")) << "does not block any more";
}

TEST_F(ContextTest, SleepEndsAtTheDeadline) {
  Context child = root_.WithTimeout(seconds(2));
  std::jthread advance([&] {
    clock_.WaitForWaiters(1);
    clock_.Advance(hours(1));
  });
  EXPECT_EQ(child.Sleep(seconds(30)), Context::DeadlineExceeded());
}

TEST_F(ContextTest, SleepOfZeroDoesNotBlock) {
  EXPECT_TRUE(root_.Sleep(seconds(0)).ok());
  EXPECT_TRUE(root_.Sleep(seconds(-1)).ok());
  root_.Stop();
  EXPECT_EQ(root_.Sleep(seconds(0)), Context::Canceled());
}

TEST_F(ContextTest, AwaitReturnsWhenReadyOrStopped) {
  Mutex mu;
  CondVar changed;
  bool ready = false;
  std::jthread setter([&] {
    MutexLock lock(mu);
    ready = true;
    changed.NotifyAll();
  });
  {
    MutexLock lock(mu);
    EXPECT_TRUE(root_.Await(mu, changed, [&] { return ready; }).ok());
  }
  std::jthread stopper([&] { root_.Stop(); });
  MutexLock lock(mu);
  EXPECT_EQ(root_.Await(mu, changed, [] { return false; }), Context::Canceled());
  EXPECT_TRUE(root_.Await(mu, changed, [] { return true; }).ok()) << "ready wins over stopped";
}

TEST_F(ContextTest, CallbackRunsOnceWhenStopped) {
  int called = 0;
  StopHandle handle = root_.OnStop([&] {
    ++called;
    EXPECT_EQ(root_.status(), Context::Canceled()) << "the reason is known to callbacks";
  });
  EXPECT_EQ(called, 0);
  root_.Stop();
  root_.Stop();
  EXPECT_EQ(called, 1);
  StopHandle late = root_.OnStop([&] { ++called; });
  EXPECT_EQ(called, 2) << "at once when stopped already";
}

TEST_F(ContextTest, UnregisteredCallbackDoesNotRun) {
  int called = 0;
  {
    StopHandle handle = root_.OnStop([&] { ++called; });
  }
  root_.Stop();
  EXPECT_EQ(called, 0);
}

TEST_F(ContextTest, StopHandleKeepsItsContextAlive) {
  int called = 0;
  StopHandle handle = root_.Child().OnStop([&] { ++called; });
  root_.Stop();
  EXPECT_EQ(called, 1);
}

TEST_F(ContextTest, CallbackMayDestroyTheLastHandle) {
  auto child = std::make_unique<Context>(root_.WithTimeout(seconds(1)));
  StopHandle on_root = child->OnStop([&] { child.reset(); });
  clock_.Advance(seconds(1));
  EXPECT_EQ(child, nullptr);

  child = std::make_unique<Context>(root_.Child());
  StopHandle again = child->OnStop([&] { child.reset(); });
  root_.Stop();
  EXPECT_EQ(child, nullptr);
}

TEST_F(ContextTest, ConcurrentStopAndDestruction) {
  for (int round = 0; round < 200; ++round) {
    Context parent = root_.Child();
    std::jthread stopper([&] { parent.Stop(); });
    std::vector<std::jthread> droppers;
    for (int t = 0; t < 2; ++t) {
      droppers.emplace_back([&] {
        Context child = parent.WithTimeout(hours(1));
        Context grandchild = child.Child();
        EXPECT_TRUE(grandchild.Sleep(hours(1)).Is(Reason::kServiceUnavailable));
      });
    }
  }
  EXPECT_EQ(clock_.timers(), 0u);
}

TEST_F(ContextTest, ConcurrentTimeoutAndDestructionWithRealClock) {
  RealClock clock;
  const Context root(clock);
  for (int i = 0; i < 300; ++i) {
    Context child = root.WithTimeout(std::chrono::microseconds(i % 100));
    if (i % 10 == 0) {
      EXPECT_EQ(child.Sleep(hours(1)), Context::DeadlineExceeded());
    }
  }
}

class LinesSink final : public LogSink {
 public:
  void Write(std::string_view line) override { last = line; }
  std::string last;
};

TEST_F(ContextTest, ValuesAreInheritedAndLogged) {
  LinesSink sink;
  Logging logging(clock_, LogFormat::kText, sink);
  const Context ctx = Context(clock_, logging.For("api"))
                          .WithValue(Context::kRequestId, "r-1")
                          .WithTimeout(seconds(1))
                          .WithValue("user", "ann");
  EXPECT_EQ(ctx.Value(Context::kRequestId), "r-1");
  EXPECT_EQ(ctx.Value("user"), "ann");
  EXPECT_EQ(ctx.Value("absent"), "");
  COX_INFO(ctx.log(), "Handled");
  EXPECT_THAT(sink.last,
              testing::EndsWith("\"Handled\" logger=\"api\" requestID=\"r-1\" user=\"ann\"\n"));

  COX_INFO(ctx.WithValue("user", "bob").log(), "Handled");
  EXPECT_THAT(sink.last, testing::EndsWith("requestID=\"r-1\" user=\"bob\"\n"));
  COX_INFO(ctx.WithLogger(logging.For("etcd")).log(), "Read");
  EXPECT_THAT(sink.last, testing::EndsWith("logger=\"etcd\" requestID=\"r-1\" user=\"ann\"\n"));
  EXPECT_EQ(ctx.WithValue("user", "bob").Value("user"), "bob");
  EXPECT_EQ(ctx.Value("user"), "ann");
}

TEST_F(ContextTest, WithValueSharesTheStopState) {
  Context with = root_.WithValue("a", "b");
  root_.Stop();
  EXPECT_TRUE(with.Done());
}

TEST(ContextDeathTest, StopWithOkStatusAborts) {
  TestClock clock;
  Context root(clock);
  EXPECT_DEATH(root.Stop(Status()), "stops for a reason");
}

}  // namespace
}  // namespace cox
