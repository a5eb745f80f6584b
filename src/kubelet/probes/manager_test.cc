// SPDX-License-Identifier: Apache-2.0
#include "kubelet/probes/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/testing/test_clock.h"
#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using core::v1::Pod;
using runtime::PodState;
using std::chrono::seconds;
using ::testing::HasSubstr;
using testing::MakePod;

// Probes return the results that the test sets, and are counted.
class ProbeManagerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ProbeManager::Options options;
    options.changed = [this](const std::string&) {
      MutexLock lock(mu_);
      ++changes_;
      changed_.NotifyAll();
    };
    options.failed = [this](const ProbeManager::Failed& failed) {
      MutexLock lock(mu_);
      failed_.push_back(std::string(ProbeTypeName(failed.type)) + " " + failed.message);
    };
    options.metrics = &metrics_;
    options.run = [this](const Context&, const ProbeTarget& target, const Prober::Done& done) {
      const std::string& command = target.handler.exec->command[0];
      ProbeReply reply = ProbeReply::Success();
      {
        MutexLock lock(mu_);
        ++looks_[command];
        changed_.NotifyAll();
        if (silent_.contains(command)) return held_.push_back(done);
        if (answers_.contains(command)) reply = answers_[command];
      }
      done(reply);
    };
    manager_ = std::make_unique<ProbeManager>(ctx_, std::move(options));
  }
  void TearDown() override {
    {
      MutexLock lock(mu_);
      silent_.clear();
    }
    ReplyToHeld();
    manager_.reset();
  }

  void ReplyToHeld() {
    std::vector<Prober::Done> held;
    {
      MutexLock lock(mu_);
      held.swap(held_);
    }
    for (const Prober::Done& done : held) done(ProbeReply::Failure("late"));
  }

  PodState State(const std::string& id = "a0") const {
    PodState state = testing::RunningSandbox();
    runtime::ContainerState running = testing::Running("a");
    running.id = id;
    running.started = clock_.Now();
    state.containers = {running};
    return state;
  }
  void Answer(const std::string& command, ProbeReply reply) {
    MutexLock lock(mu_);
    answers_[command] = std::move(reply);
  }
  void WaitForLooks(const std::string& command, int n) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return looks_[command] >= n; });
  }
  void WaitForChanges(int n) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return changes_ >= n; });
  }
  int Looks(const std::string& command) {
    MutexLock lock(mu_);
    return looks_[command];
  }
  // Waits until the manager waits for the clock, that is, for the time of the next probe.
  void Settle() { clock_.WaitForWaiters(1); }

  TestClock clock_;
  Context ctx_{clock_};
  Mutex mu_;
  CondVar changed_;
  std::map<std::string, int> looks_ COX_GUARDED_BY(mu_);
  std::map<std::string, ProbeReply> answers_ COX_GUARDED_BY(mu_);
  std::set<std::string> silent_ COX_GUARDED_BY(mu_);  // commands without a reply
  std::vector<Prober::Done> held_ COX_GUARDED_BY(mu_);
  std::vector<std::string> failed_ COX_GUARDED_BY(mu_);
  int changes_ COX_GUARDED_BY(mu_) = 0;
  MetricsRegistry metrics_;
  std::unique_ptr<ProbeManager> manager_;
};

constexpr char kReady[] = R"({"containers":[{"name":"a","image":"i",
    "readinessProbe":{"exec":{"command":["ready"]},"periodSeconds":5,"failureThreshold":2,"successThreshold":1}}]})";

TEST_F(ProbeManagerTest, ProbesImmediatelyThenEachPeriod) {
  manager_->Update(MakePod(kReady), State());
  WaitForChanges(1);
  EXPECT_EQ(manager_->Results("u1").Of("a0").readiness, ProbeOutcome::kSuccess);
  Answer("ready", ProbeReply::Failure("no"));
  for (int i = 2; i <= 3; ++i) {
    Settle();
    clock_.Advance(seconds(5));
    WaitForLooks("ready", i);
  }
  WaitForChanges(2);
  EXPECT_EQ(manager_->Results("u1").Of("a0").readiness, ProbeOutcome::kFailure);
  EXPECT_EQ(manager_->Results("u1").Of("a0").message, "no");
  EXPECT_THAT(
      metrics_.Render(),
      HasSubstr(
          R"(prober_probe_total{container="a",namespace="default",pod="web",pod_uid="u1",probe_type="Readiness",result="failed"} 2)"));
}

TEST_F(ProbeManagerTest, ProbesWithoutReplyDelayNoOther) {
  {
    MutexLock lock(mu_);
    silent_.insert("silent");
  }
  for (int i = 0; i < 500; ++i) {
    Pod pod = MakePod(R"({"containers":[{"name":"a","image":"i",
        "readinessProbe":{"exec":{"command":["silent"]}}}]})");
    pod.metadata.uid = "silent-" + std::to_string(i);
    manager_->Update(pod, State("s" + std::to_string(i)));
  }
  WaitForLooks("silent", 500);
  manager_->Update(MakePod(kReady), State());
  WaitForChanges(1);
  for (int i = 2; i <= 20; ++i) {
    Settle();
    clock_.Advance(seconds(5));
    WaitForLooks("ready", i);
  }
  EXPECT_EQ(Looks("silent"), 500) << "a probe runs concurrently with itself";
}

TEST_F(ProbeManagerTest, PeriodIsBetweenBeginsOfProbes) {
  {
    MutexLock lock(mu_);
    silent_.insert("ready");
  }
  manager_->Update(MakePod(kReady), State());
  WaitForLooks("ready", 1);
  clock_.Advance(seconds(3));
  ReplyToHeld();
  Settle();
  clock_.Advance(seconds(2));
  WaitForLooks("ready", 2);
  // A probe that took longer than its period is repeated at once.
  clock_.Advance(seconds(9));
  ReplyToHeld();
  WaitForLooks("ready", 3);
}

TEST_F(ProbeManagerTest, WaitsForTheInitialDelay) {
  manager_->Update(MakePod(R"({"containers":[{"name":"a","image":"i",
      "livenessProbe":{"exec":{"command":["live"]},"initialDelaySeconds":30}}]})"),
                   State());
  Settle();
  clock_.Advance(seconds(29));
  Settle();
  EXPECT_EQ(Looks("live"), 0);
  clock_.Advance(seconds(1));
  WaitForLooks("live", 1);
}

TEST_F(ProbeManagerTest, OtherProbesWaitForStartup) {
  Answer("up", ProbeReply::Failure("not yet"));
  manager_->Update(MakePod(R"({"containers":[{"name":"a","image":"i",
      "startupProbe":{"exec":{"command":["up"]},"periodSeconds":1,"failureThreshold":30},
      "readinessProbe":{"exec":{"command":["ready"]},"periodSeconds":100},
      "livenessProbe":{"exec":{"command":["live"]},"periodSeconds":100}}]})"),
                   State());
  WaitForLooks("up", 1);
  EXPECT_EQ(Looks("live"), 0);
  EXPECT_EQ(Looks("ready"), 0);
  Answer("up", ProbeReply::Success());
  Settle();
  clock_.Advance(seconds(1));
  // After that they run without waiting for their period.
  WaitForLooks("ready", 1);
  WaitForLooks("live", 1);
  WaitForChanges(3);
  const ContainerProbeResults results = manager_->Results("u1").Of("a0");
  EXPECT_EQ(results.startup, ProbeOutcome::kSuccess);
  EXPECT_EQ(results.liveness, ProbeOutcome::kSuccess);
  EXPECT_EQ(results.readiness, ProbeOutcome::kSuccess);
}

TEST_F(ProbeManagerTest, ErrorIsRetriedThreeTimesAndHasNoOutcome) {
  Answer("ready", ProbeReply::Error("no runtime"));
  manager_->Update(MakePod(kReady), State());
  WaitForLooks("ready", 3);
  Settle();
  EXPECT_EQ(Looks("ready"), 3);
  EXPECT_EQ(manager_->Results("u1").Of("a0").readiness, ProbeOutcome::kUnknown);
}

TEST_F(ProbeManagerTest, NewContainerInstanceHasNewResults) {
  const Pod pod = MakePod(kReady);
  manager_->Update(pod, State("a0"));
  WaitForChanges(1);
  Answer("ready", ProbeReply::Error("wait"));
  manager_->Update(pod, State("a1"));
  EXPECT_EQ(manager_->Results("u1").Of("a0").readiness, ProbeOutcome::kUnknown);
  EXPECT_EQ(manager_->Results("u1").Of("a1").readiness, ProbeOutcome::kUnknown);
  EXPECT_EQ(manager_->size(), 1U);
  manager_->Update(pod, testing::RunningSandbox());
  EXPECT_EQ(manager_->size(), 0U);
  manager_->Update(pod, State("a2"));
  manager_->Remove("u1");
  EXPECT_EQ(manager_->size(), 0U);
}

TEST_F(ProbeManagerTest, RestartedKubeletRestoresResults) {
  const Pod pod = MakePod(
      R"({"containers":[{"name":"a","image":"i",
      "startupProbe":{"exec":{"command":["up"]}},"readinessProbe":{"exec":{"command":["ready"]},"initialDelaySeconds":60}}]})",
      R"({"containerStatuses":[{"name":"a","containerID":"containerd://a0","started":true,"ready":true}]})");
  manager_->Update(pod, State());
  EXPECT_EQ(manager_->Results("u1").Of("a0").startup, ProbeOutcome::kSuccess);
  EXPECT_EQ(manager_->Results("u1").Of("a0").readiness, ProbeOutcome::kSuccess);
  Settle();
  EXPECT_EQ(Looks("up"), 0);
}

TEST_F(ProbeManagerTest, OnlyReadinessProbesRunDuringDeletion) {
  Pod pod = MakePod(R"({"containers":[{"name":"a","image":"i",
      "livenessProbe":{"exec":{"command":["live"]},"periodSeconds":1,"failureThreshold":1},
      "readinessProbe":{"exec":{"command":["ready"]},"periodSeconds":1}}]})");
  manager_->Update(pod, State());
  WaitForChanges(2);
  pod.metadata.deletionTimestamp = Time::FromUnix(1);
  Answer("live", ProbeReply::Failure("gone"));
  manager_->Update(pod, State());
  clock_.Advance(seconds(1));
  WaitForLooks("ready", 2);
  Settle();
  EXPECT_EQ(Looks("live"), 1);
  EXPECT_EQ(manager_->Results("u1").Of("a0").liveness, ProbeOutcome::kSuccess);
}

}  // namespace
}  // namespace cox::kubelet
