// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/node_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "object/codec/json/json.h"
#include "simulate/testing/node_harness.h"

namespace cox::simulate {
namespace {

using core::v1::Pod;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class NodePodsTest : public NodeHarness {
 protected:
  NodePodsTest() : connection_(shard, NewClient()), pods_(connection_, 5, "sim-5") {}

  static Pod Bound(const std::string& name, int version = 10) {
    Pod pod;
    pod.metadata.name = name;
    pod.metadata.namespace_ = "default";
    pod.metadata.uid = "uid-" + name;
    pod.metadata.resourceVersion = std::to_string(version);
    pod.spec.nodeName = "sim-5";
    pod.spec.containers.emplace_back().name = "c";
    return pod;
  }
  static Pod Running(const std::string& name, const std::string& address, int version = 10) {
    Pod pod = Bound(name, version);
    pod.status.phase = "Running";
    pod.status.podIP = address;
    auto& ready = pod.status.conditions.emplace_back();
    ready.type = "Ready";
    ready.status = "True";
    pod.status.containerStatuses.emplace_back().state.running.emplace();
    return pod;
  }
  void Start(const std::string& existing = "") {
    pods_.Start();
    watch_ = Open("GET /api/v1/pods");
    ASSERT_NE(watch_, nullptr);
    EXPECT_THAT(watch_->request.target, HasSubstr("fieldSelector=spec.nodeName%3Dsim-5"));
    watch_->observer->OnHeaders(200, {});
    watch_->observer->OnData(existing + Bookmark<Pod>("5", true));
  }
  void Send(const std::string& type, const Pod& pod) { watch_->observer->OnData(Event(type, pod)); }
  std::shared_ptr<FakeExchange> OpenPatch(const std::string& name) const {
    return Open("PATCH /api/v1/namespaces/default/pods/" + name + "/status");
  }

  NodeConnection connection_;
  NodePods pods_;
  std::shared_ptr<FakeExchange> watch_;
};

TEST_F(NodePodsTest, BoundPodRunsUntilDeleted) {
  Start();
  Send("ADDED", Bound("a"));
  const auto patch = OpenPatch("a");
  ASSERT_NE(patch, nullptr);
  EXPECT_THAT(patch->request.body, HasSubstr(R"("uid":"uid-a")"));
  EXPECT_THAT(patch->request.body, HasSubstr(R"("podIP":"10.0.5.1")"));
  patch->Answer(200, Sealed(Running("a", "10.0.5.1", 11)));
  Send("MODIFIED", Running("a", "10.0.5.1", 11));
  EXPECT_EQ(CountOpen("PATCH"), 0U);
  EXPECT_EQ(Metric("coxswain_simulate_pods_ready"), 1);

  Pod deleting = Running("a", "10.0.5.1", 12);
  deleting.metadata.deletionTimestamp = Time::FromUnix(1);
  Send("MODIFIED", deleting);
  const auto remove = Open("DELETE /api/v1/namespaces/default/pods/a");
  ASSERT_NE(remove, nullptr);
  EXPECT_THAT(remove->request.body, HasSubstr(R"("gracePeriodSeconds":0)"));
  EXPECT_THAT(remove->request.body, HasSubstr(R"("uid":"uid-a")"));
  remove->Answer(200);
  Send("DELETED", deleting);
  EXPECT_EQ(Metric("coxswain_simulate_pods"), 0);
  EXPECT_EQ(Metric("coxswain_simulate_pods_ready"), 0);
  EXPECT_EQ(CountOpen("DELETE"), 0U);
}

TEST_F(NodePodsTest, EventsOlderThanTheLastWriteCauseNoWrite) {
  Start();
  Send("ADDED", Bound("a", 10));
  const auto patch = OpenPatch("a");
  Send("MODIFIED", Bound("a", 11));  // arrives before the response
  patch->Answer(200, Sealed(Running("a", "10.0.5.1", 12)));
  EXPECT_EQ(CountOpen("PATCH"), 0U);
  Send("MODIFIED", Running("a", "10.0.5.1", 12));
  EXPECT_EQ(CountOpen("PATCH"), 0U);
}

TEST_F(NodePodsTest, DeletionDuringAWriteFollowsIt) {
  Start();
  Send("ADDED", Bound("a", 10));
  const auto patch = OpenPatch("a");
  Pod deleting = Running("a", "10.0.5.1", 13);
  deleting.metadata.deletionTimestamp = Time::FromUnix(1);
  Send("MODIFIED", deleting);
  EXPECT_EQ(CountOpen("DELETE"), 0U);
  patch->Answer(200, Sealed(Running("a", "10.0.5.1", 12)));
  EXPECT_EQ(CountOpen("DELETE"), 1U);
}

TEST_F(NodePodsTest, FailedWriteIsRepeatedWithBackoff) {
  Start();
  Send("ADDED", Bound("a"));
  OpenPatch("a")->Answer(500);
  EXPECT_EQ(CountOpen("PATCH"), 0U);
  clock.Advance(milliseconds(200));
  ASSERT_NE(OpenPatch("a"), nullptr);
  EXPECT_THAT(OpenPatch("a")->request.body, HasSubstr(R"("podIP":"10.0.5.1")"));
  OpenPatch("a")->Break();
  clock.Advance(milliseconds(399));
  EXPECT_EQ(CountOpen("PATCH"), 0U);
  clock.Advance(milliseconds(1));
  ASSERT_NE(OpenPatch("a"), nullptr);
  OpenPatch("a")->Answer(404);
  clock.Advance(seconds(60));
  EXPECT_EQ(CountOpen("PATCH"), 0U);
}

TEST_F(NodePodsTest, FewWritesAtATimeAndAllInTheEnd) {
  Start();
  for (int i = 0; i < 20; ++i) Send("ADDED", Bound("p" + std::to_string(i)));
  int written = 0;
  while (const auto patch = Open("PATCH")) {
    EXPECT_LE(CountOpen("PATCH"), 4U);
    ++written;
    patch->Answer(404);
  }
  EXPECT_EQ(written, 20);
}

TEST_F(NodePodsTest, WritesWaitForPermitsOfTheProcess) {
  shard.pod_writes = Permits(1);
  NodeConnection other_connection(shard, NewClient());
  Start();
  Send("ADDED", Bound("a"));
  Send("ADDED", Bound("b"));
  Send("ADDED", Bound("c"));
  EXPECT_EQ(CountOpen("PATCH"), 1U);
  Send("DELETED", Bound("b"));  // while it waits
  OpenPatch("a")->Answer(404);
  EXPECT_EQ(CountOpen("PATCH"), 1U);
  ASSERT_NE(OpenPatch("c"), nullptr);
  OpenPatch("c")->Answer(404);
  EXPECT_TRUE(shard.pod_writes.TryAcquire());
}

TEST_F(NodePodsTest, AddressesOfExistingPodsAreNotUsedAgain) {
  Start(Event("ADDED", Bound("new")) + Event("ADDED", Running("old", "10.0.5.1")));
  ASSERT_NE(OpenPatch("new"), nullptr);
  EXPECT_THAT(OpenPatch("new")->request.body, HasSubstr(R"("podIP":"10.0.5.2")"));
}

TEST_F(NodePodsTest, StartupDelayIsWaitedFor) {
  options.startup_delay = seconds(5);
  Start();
  Send("ADDED", Bound("a"));
  clock.Advance(milliseconds(4999));
  EXPECT_EQ(CountOpen("PATCH"), 0U);
  clock.Advance(milliseconds(1));
  EXPECT_EQ(CountOpen("PATCH"), 1U);
}

TEST_F(NodePodsTest, PausedNodeWritesNothingUntilResumed) {
  Start();
  pods_.Pause();
  Send("ADDED", Bound("a"));
  EXPECT_EQ(CountOpen("PATCH"), 0U);
  pods_.Resume();
  clock.Advance(milliseconds(0));
  const auto again = Open("GET /api/v1/pods");
  ASSERT_NE(again, nullptr);
  again->observer->OnHeaders(200, {});
  again->observer->OnData(Event("ADDED", Bound("a")) + Bookmark<Pod>("9", true));
  EXPECT_EQ(CountOpen("PATCH"), 1U);
}

TEST_F(NodePodsTest, PodsThatALaterListLacksAreForgotten) {
  Start(Event("ADDED", Running("a", "10.0.5.1")) + Event("ADDED", Running("b", "10.0.5.2")));
  EXPECT_EQ(Metric("coxswain_simulate_pods_ready"), 2);
  pods_.Pause();
  pods_.Resume();
  clock.Advance(milliseconds(0));
  const auto again = Open("GET /api/v1/pods");
  again->observer->OnHeaders(200, {});
  again->observer->OnData(Event("ADDED", Running("b", "10.0.5.2")) + Bookmark<Pod>("9", true));
  EXPECT_EQ(Metric("coxswain_simulate_pods_ready"), 1);
  EXPECT_EQ(Metric("coxswain_simulate_pods"), 1);
}

}  // namespace
}  // namespace cox::simulate
