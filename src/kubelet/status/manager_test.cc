// SPDX-License-Identifier: Apache-2.0
#include "kubelet/status/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "coxswain/conditions.h"
#include "kubelet/testing/test_pods.h"
#include "object/patch/patch.h"
#include "sdk/testing/function_client.h"

namespace cox::kubelet {
namespace {

using core::v1::Pod;
using core::v1::PodStatus;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MakePod;

// A server with one Pod that accepts status patches and deletions.
class OnePod final : public sdk::FunctionClient {
 public:
  explicit OnePod(Pod pod) : pod_(std::make_shared<const Pod>(std::move(pod))) {}

  std::shared_ptr<const Pod> pod() const {
    MutexLock lock(mu_);
    return pod_;
  }
  void Change(const std::function<void(Pod&)>& change) {
    MutexLock lock(mu_);
    Pod next = *pod_;
    change(next);
    pod_ = std::make_shared<const Pod>(std::move(next));
  }
  void FailOnce(Status status) {
    MutexLock lock(mu_);
    fail_ = std::move(status);
  }
  std::vector<std::string> WaitForCalls(size_t n) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return calls_.size() >= n; });
    return calls_;
  }

  Result<Object> Execute(Context&, const Operation& operation) override {
    MutexLock lock(mu_);
    changed_.NotifyAll();
    if (!fail_.ok()) {
      calls_.emplace_back("failed");
      return std::exchange(fail_, Status());
    }
    if (pod_ == nullptr) return Status::NotFound("no pod");
    if (operation.verb == Operation::Verb::kPatch) {
      calls_.push_back(operation.subresource + " " + operation.patch->body);
      Result<Pod> next = patch::ApplyTo(operation.patch->type, *pod_, operation.patch->body);
      if (!next.ok()) return next.status();
      pod_ = std::make_shared<const Pod>(*next);
      return Object::Of(*next);
    }
    calls_.push_back("delete " + std::to_string(operation.remove->grace_period->count()) + " " +
                     operation.remove->uid);
    Object last = Object::Of(*pod_);
    pod_ = nullptr;
    return last;
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  std::shared_ptr<const Pod> pod_ COX_GUARDED_BY(mu_);
  std::vector<std::string> calls_ COX_GUARDED_BY(mu_);
  Status fail_ COX_GUARDED_BY(mu_);
};

class StatusManagerTest : public ::testing::Test {
 protected:
  StatusManagerTest()
      : server_(
            MakePod("{}", R"({"phase":"Pending","conditions":[{"type":"x/y","status":"True"}]})")),
        manager_(ctx_, server_, [this](const ObjectKey&) { return server_.pod(); }) {}

  PodStatus Running() const {
    PodStatus status = server_.pod()->status;
    status.phase = "Running";
    SetCondition(status.conditions, {.type = "Ready", .status = "True"}, Time::FromUnix(5));
    return status;
  }

  TestClock clock_;
  Context ctx_{clock_};
  OnePod server_;
  StatusManager manager_;
};

TEST_F(StatusManagerTest, WritesChangesOnly) {
  const PodStatus running = Running();
  manager_.Set(*server_.pod(), running);
  const auto calls = server_.WaitForCalls(1);
  EXPECT_THAT(calls[0], HasSubstr(R"("phase":"Running")"));
  EXPECT_THAT(calls[0], HasSubstr(R"("uid":"u1")"));
  EXPECT_THAT(calls[0], ::testing::StartsWith("status "));
  EXPECT_EQ(manager_.Version("u1"), 1U);
  // An equal status is not written again.
  ASSERT_TRUE(manager_.Sync(ctx_, {"default", "web"}).ok());
  manager_.Set(*server_.pod(), running);
  ASSERT_TRUE(manager_.Sync(ctx_, {"default", "web"}).ok());
  EXPECT_EQ(manager_.Version("u1"), 1U);
  EXPECT_EQ(server_.WaitForCalls(1).size(), 1U);
  EXPECT_EQ(manager_.Get("u1")->phase, "Running");
}

TEST_F(StatusManagerTest, KeepsConditionsOfOtherWriters) {
  const PodStatus status = Running();
  // Another writer changes the conditions first; its changes are kept.
  server_.Change([](Pod& pod) {
    pod.status.conditions[0].status = "False";
    pod.status.conditions.push_back({.type = "z/z", .status = "True"});
  });
  manager_.Set(*server_.pod(), status);
  server_.WaitForCalls(1);
  ASSERT_TRUE(manager_.Sync(ctx_, {"default", "web"}).ok());
  const auto& conditions = server_.pod()->status.conditions;
  EXPECT_EQ(FindCondition(conditions, "x/y")->status, "False");
  EXPECT_EQ(FindCondition(conditions, "z/z")->status, "True");
  EXPECT_EQ(FindCondition(conditions, "Ready")->status, "True");
}

TEST_F(StatusManagerTest, RetriesFailedWrites) {
  server_.FailOnce(Status::Unavailable("away"));
  manager_.Set(*server_.pod(), Running());
  EXPECT_THAT(server_.WaitForCalls(1), ElementsAre("failed"));
  clock_.WaitForWaiters(1);  // a writer waits for its backoff
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_THAT(server_.WaitForCalls(2)[1], HasSubstr("Running"));
}

TEST_F(StatusManagerTest, DeletesFinishedPodOnlyIfItHasDeletionTimestamp) {
  manager_.SetFinished(*server_.pod());
  ASSERT_TRUE(manager_.Sync(ctx_, {"default", "web"}).ok());
  EXPECT_NE(server_.pod(), nullptr);
  server_.Change([](Pod& pod) { pod.metadata.deletionTimestamp = Time::FromUnix(1); });
  ASSERT_TRUE(manager_.Sync(ctx_, {"default", "web"}).ok());
  EXPECT_EQ(server_.pod(), nullptr);
  EXPECT_THAT(server_.WaitForCalls(1), ElementsAre("delete 0 u1"));
}

TEST_F(StatusManagerTest, DoesNotWriteToAnotherPodOfSameName) {
  PodStatus status = Running();
  Pod old = *server_.pod();
  server_.Change([](Pod& pod) { pod.metadata.uid = "u2"; });
  manager_.Set(old, status);
  manager_.SetFinished(old);
  ASSERT_TRUE(manager_.Sync(ctx_, {"default", "web"}).ok());
  EXPECT_EQ(server_.pod()->status.phase, "Pending");
  manager_.Forget("u1");
  EXPECT_EQ(manager_.Get("u1"), std::nullopt);
}

TEST_F(StatusManagerTest, StatusOfOldPodDoesNotReplaceThatOfNewPod) {
  const Pod old = *server_.pod();
  server_.Change([](Pod& pod) { pod.metadata.uid = "u2"; });
  manager_.Set(*server_.pod(), Running());
  manager_.Set(old, old.status);
  manager_.SetFinished(old);
  ASSERT_TRUE(manager_.Get("u2").has_value());
  EXPECT_EQ(manager_.Get("u2")->phase, "Running");
  EXPECT_EQ(manager_.Get("u1"), std::nullopt);
}

TEST_F(StatusManagerTest, KeepsTimesThatAreNotInTheCacheYet) {
  const Pod stale = *server_.pod();
  PodStatus status = Running();
  status.startTime = Time::FromUnix(5);
  manager_.Set(stale, status);
  status.startTime = Time::FromUnix(9);
  FindCondition(status.conditions, "Ready")->lastTransitionTime = Time::FromUnix(9);
  manager_.Set(stale, status);
  EXPECT_EQ(manager_.Version("u1"), 1U);
  EXPECT_EQ(manager_.Get("u1")->startTime->unix_seconds(), 5);
}

TEST(StatusPatchTest, ReplacesAddresses) {
  const Pod pod = MakePod("{}", R"({"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}]})");
  PodStatus wanted = pod.status;
  wanted.podIP = "10.0.0.2";
  wanted.podIPs = {{.ip = "10.0.0.2"}};
  const Result<Patch> patch = StatusPatch(pod, wanted);
  ASSERT_TRUE(patch.ok());
  const Result<Pod> after = patch::ApplyTo(patch->type, pod, patch->body);
  ASSERT_TRUE(after.ok());
  ASSERT_EQ(after->status.podIPs.size(), 1U);
  EXPECT_EQ(after->status.podIPs[0].ip, "10.0.0.2");
  EXPECT_TRUE(StatusPatch(pod, pod.status)->empty());
}

}  // namespace
}  // namespace cox::kubelet
