// SPDX-License-Identifier: Apache-2.0
#include "kubelet/containers/killer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "base/testing/test_clock.h"
#include "kubelet/testing/fake_events.h"
#include "kubelet/testing/test_pods.h"
#include "runtime/labels.h"
#include "runtime/testing/fake_runtime.h"

namespace cox::kubelet {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

class KillerTest : public ::testing::Test {
 protected:
  KillerTest() {
    runtime_.Publish("i");
    cri::v1::PodSandboxConfig sandbox;
    runtime::MarkSandbox({"u1", "default", "web"}, 0, &sandbox);
    const std::string sandbox_id = *runtime_.RunSandbox(ctx_, sandbox, "");
    EXPECT_TRUE(runtime_.PullImage(ctx_, {.image = "i"}, nullptr, sandbox).ok());
    cri::v1::ContainerConfig config;
    config.image = cri::v1::ImageSpec{.image = "i"};
    runtime::MarkContainer({"u1", "default", "web"}, "c", 0, 1, &config);
    make_container_ = [=, this]() -> std::string {
      std::string id = *runtime_.CreateContainer(ctx_, sandbox_id, config, sandbox);
      EXPECT_TRUE(runtime_.StartContainer(ctx_, id).ok());
      return id;
    };
    id_ = make_container_();
    killer_.emplace(ctx_, ContainerKiller::Parts{.runtime = runtime_,
                                                 .prober = prober_,
                                                 .events = events_,
                                                 .changed = [this](const std::string&) {
                                                   MutexLock lock(mu_);
                                                   ++ended_;
                                                   changed_.NotifyAll();
                                                 }});
  }
  ~KillerTest() override { ctx_.Stop(); }

  KillOrder Order(const std::string& lifecycle, seconds grace) {
    auto pod = std::make_shared<const core::v1::Pod>(
        testing::MakePod(R"({"containers":[{"name":"c","lifecycle":)" + lifecycle + "}]}"));
    return {.pod = pod,
            .container = pod->spec.containers[0],
            .id = id_,
            .pod_ip = "",
            .message = "Stopping container c",
            .grace = grace};
  }
  void AwaitEnd() {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this] {
      mu_.AssertHeld();
      return ended_ > 0;
    });
  }
  std::string LastCall() const { return runtime_.calls().back(); }

  TestClock clock_;
  Context ctx_{clock_};
  runtime::FakeRuntime runtime_{clock_};
  Prober prober_{ctx_, {}};
  testing::FakeEvents events_;
  std::function<std::string()> make_container_;
  std::string id_;
  Mutex mu_;
  CondVar changed_;
  int ended_ COX_GUARDED_BY(mu_) = 0;
  std::optional<ContainerKiller> killer_;
};

TEST_F(KillerTest, StopsWithRemainingGracePeriod) {
  killer_->Kill(Order("{}", seconds(30)));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 30");
  EXPECT_THAT(events_.events(), ElementsAre("Normal Killing Stopping container c"));
}

TEST_F(KillerTest, KillFromStaleObservationIsIgnored) {
  KillOrder late = Order("{}", seconds(30));
  late.seen = killer_->ended();
  killer_->Kill(late);
  AwaitEnd();
  const size_t calls = runtime_.calls().size();
  killer_->Kill(late);
  EXPECT_EQ(events_.events().size(), 1U);
  EXPECT_EQ(runtime_.calls().size(), calls);
}

TEST_F(KillerTest, PreStopHookUsesGracePeriod) {
  killer_->Kill(Order(R"({"preStop":{"sleep":{"seconds":10}}})", seconds(30)));
  clock_.WaitForWaiters(1);
  EXPECT_EQ(LastCall(), "StartContainer web/c");
  clock_.Advance(seconds(10));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 20");
}

TEST_F(KillerTest, HookThatUsesWholeGracePeriodLeavesTwoSeconds) {
  killer_->Kill(Order(R"({"preStop":{"sleep":{"seconds":100}}})", seconds(30)));
  clock_.WaitForWaiters(1);
  clock_.Advance(seconds(30));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 2");
  EXPECT_TRUE(events_.Has("Warning FailedPreStopHook"));
}

TEST_F(KillerTest, FailedHookIsRecordedWithoutOutputAndContainerIsStopped) {
  runtime_.SetExec([](const std::string&, const auto&) {
    return runtime::ExecResult{.exit_code = 3, .out = "", .err = "secret"};
  });
  killer_->Kill(Order(R"({"preStop":{"exec":{"command":["bye"]}}})", seconds(30)));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 30");
  EXPECT_TRUE(events_.Has("Warning FailedPreStopHook PreStopHook failed"));
  EXPECT_FALSE(events_.Has("secret"));
}

TEST_F(KillerTest, ContainersThatDoNotEndDelayNoOther) {
  runtime_.SetUnresponsive(true);
  for (int i = 0; i < 500; ++i) {
    // Every second one is in a hook that does not end.
    KillOrder order = Order(i % 2 == 0 ? R"({"preStop":{"exec":{"command":["wait"]}}})" : "{}",
                            std::chrono::hours(1));
    order.id = make_container_();
    killer_->Kill(order);
  }
  killer_->Kill(Order("{}", seconds(0)));  // its container cannot ignore SIGKILL
  AwaitEnd();
  {
    MutexLock lock(mu_);
    EXPECT_EQ(ended_, 1);
  }
  EXPECT_THAT(runtime_.calls(), ::testing::Contains("StopContainer web/c 0"));
  // A container that is stopped after its hook gets at least two seconds, see kLeast.
  const auto all_ended = [this] {
    MutexLock lock(mu_);
    return ended_ == 501;
  };
  while (!all_ended()) {
    clock_.Advance(std::chrono::hours(2));
    std::this_thread::yield();
  }
}

TEST_F(KillerTest, OnlyShorterGracePeriodReplacesPendingKill) {
  killer_->Kill(Order(R"({"preStop":{"sleep":{"seconds":100}}})", seconds(300)));
  clock_.WaitForWaiters(1);
  killer_->Kill(Order(R"({"preStop":{"sleep":{"seconds":100}}})", seconds(300)));
  killer_->Kill(Order(R"({"preStop":{"sleep":{"seconds":100}}})", seconds(5)));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 5");
  EXPECT_EQ(events_.events().size(), 1U);
}

class KillerTurnTest : public KillerTest {
 protected:
  KillOrder Held(const std::string& lifecycle, seconds grace) {
    KillOrder order = Order(lifecycle, grace);
    order.wait_for_turn = true;
    return order;
  }
  bool IsStopped() const { return LastCall().starts_with("StopContainer"); }
};

constexpr char kSleep[] = R"({"preStop":{"sleep":{"seconds":10}}})";

TEST_F(KillerTurnTest, HookRunsBeforeTurnAndSignalFollowsIt) {
  killer_->Kill(Held(kSleep, seconds(30)));
  clock_.WaitForTimers(2);  // of the hook, and of its context
  clock_.Advance(seconds(10));
  killer_->Kill(Held(kSleep, seconds(20)));
  EXPECT_FALSE(IsStopped());
  clock_.Advance(seconds(5));
  killer_->Kill(Order(kSleep, seconds(15)));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 15");
  EXPECT_THAT(events_.events(), ElementsAre("Normal Killing Stopping container c"));
}

TEST_F(KillerTurnTest, HookIsCompletedIfTurnComesBefore) {
  killer_->Kill(Held(kSleep, seconds(30)));
  clock_.WaitForTimers(2);
  clock_.Advance(seconds(4));
  killer_->Kill(Order(kSleep, seconds(26)));
  EXPECT_FALSE(IsStopped());
  clock_.Advance(seconds(6));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 20");
  EXPECT_FALSE(events_.Has("Warning FailedPreStopHook"));
}

TEST_F(KillerTurnTest, ContainerWithoutHookWaitsForItsTurn) {
  killer_->Kill(Held("{}", seconds(30)));
  EXPECT_FALSE(IsStopped());
  killer_->Kill(Order("{}", seconds(30)));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 30");
}

// The containers before it do not end.
TEST_F(KillerTurnTest, SignalIsSentAtEndOfGracePeriodWithoutTurn) {
  killer_->Kill(Held("{}", seconds(30)));
  clock_.Advance(seconds(30));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 2");
}

TEST_F(KillerTurnTest, ShorterGracePeriodDoesNotEndTheWait) {
  killer_->Kill(Held(R"({"preStop":{"sleep":{"seconds":100}}})", seconds(300)));
  clock_.WaitForTimers(2);
  killer_->Kill(Held(R"({"preStop":{"sleep":{"seconds":100}}})", seconds(20)));
  clock_.Advance(seconds(5));
  EXPECT_FALSE(IsStopped());
  killer_->Kill(Order("{}", seconds(15)));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 15");
}

TEST_F(KillerTurnTest, WithoutGracePeriodOrDuringKillThereIsNoWait) {
  killer_->Kill(Held("{}", seconds(0)));
  AwaitEnd();
  EXPECT_EQ(LastCall(), "StopContainer web/c 0");

  // A liveness probe has failed, and its preStop hook runs when the Pod is deleted.
  id_ = make_container_();
  killer_->Kill(Order(kSleep, seconds(30)));
  clock_.WaitForTimers(2);
  killer_->Kill(Held(kSleep, seconds(5)));
  while (!IsStopped()) std::this_thread::yield();
  EXPECT_EQ(LastCall(), "StopContainer web/c 5");
}

TEST_F(KillerTurnTest, WaitEndsWithKiller) {
  killer_->Kill(Held("{}", seconds(30)));
  killer_.reset();
  EXPECT_FALSE(IsStopped());
}

}  // namespace
}  // namespace cox::kubelet
