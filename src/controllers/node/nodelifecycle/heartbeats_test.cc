// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodelifecycle/heartbeats.h"

#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

using core::v1::Node;
using std::chrono::seconds;

class HeartbeatsTest : public testing::Test {
 protected:
  Node MakeNode(int64_t heartbeat) {
    Node node;
    node.metadata.name = "n1";
    node.metadata.creationTimestamp = TimeNow(clock);
    if (heartbeat > 0) {
      core::v1::NodeCondition ready;
      ready.type = "Ready";
      ready.status = "True";
      ready.lastHeartbeatTime = Time::FromUnix(heartbeat);
      node.status.conditions = {ready};
    }
    return node;
  }
  coordination::v1::Lease MakeLease(int64_t renewed) {
    coordination::v1::Lease lease;
    lease.metadata.name = "n1";
    lease.spec.renewTime = MicroTime::FromUnix(renewed);
    return lease;
  }
  Clock::Duration Silence(const Node& node) { return clock.Monotonic() - heard.Observe(node); }

  TestClock clock;
  Heartbeats heard{clock, seconds(50)};
};

TEST_F(HeartbeatsTest, OnlyNewTimestampCountsAsHeartbeat) {
  EXPECT_EQ(Silence(MakeNode(1)), seconds(0));
  clock.Advance(seconds(30));
  EXPECT_EQ(Silence(MakeNode(1)), seconds(30));
  EXPECT_EQ(Silence(MakeNode(2)), seconds(0));
  clock.Advance(seconds(5));
  EXPECT_EQ(Silence(MakeNode(2)), seconds(5));
}

TEST_F(HeartbeatsTest, RenewedLeaseCountsWithAnyTimestamp) {
  heard.Observe(MakeNode(1));
  clock.Advance(seconds(30));
  heard.LeaseSeen(MakeLease(5));
  EXPECT_EQ(Silence(MakeNode(1)), seconds(0));
  clock.Advance(seconds(10));
  heard.LeaseSeen(MakeLease(5));  // a resync
  EXPECT_EQ(Silence(MakeNode(1)), seconds(10));
  heard.LeaseSeen(MakeLease(3));  // the node's clock was set back
  EXPECT_EQ(Silence(MakeNode(1)), seconds(0));
  clock.Advance(seconds(1));
  heard.LeaseGone("n1");
  EXPECT_EQ(Silence(MakeNode(1)), seconds(41));
}

TEST_F(HeartbeatsTest, NodeWithoutStatusCountsFromItsCreation) {
  const Node node = MakeNode(0);
  clock.Advance(seconds(20));
  EXPECT_EQ(Silence(node), seconds(20));
  EXPECT_TRUE(heard.Knows("n1"));
  EXPECT_TRUE(heard.Forget("n1"));
  EXPECT_FALSE(heard.Forget("n1"));
}

TEST_F(HeartbeatsTest, ExcuseResetsAllHeartbeats) {
  heard.Observe(MakeNode(1));
  clock.Advance(seconds(100));
  heard.Excuse();
  EXPECT_EQ(Silence(MakeNode(1)), seconds(0));
}

TEST_F(HeartbeatsTest, LateRenewalsAreCounted) {
  heard.Observe(MakeNode(1));
  heard.LeaseSeen(MakeLease(1));  // the first one has no gap
  EXPECT_EQ(heard.Recent().on_time + heard.Recent().late, 0u);
  clock.Advance(seconds(10));
  heard.LeaseSeen(MakeLease(2));
  heard.LeaseSeen(MakeLease(2));  // a resync
  EXPECT_EQ(heard.Recent().on_time, 1u);
  clock.Advance(seconds(20));
  heard.Observe(MakeNode(2));  // a status is a heartbeat, too
  EXPECT_EQ(heard.Recent().on_time, 2u);
  clock.Advance(seconds(26));
  heard.LeaseSeen(MakeLease(3));
  EXPECT_EQ(heard.Recent().on_time, 0u);  // older than half of the grace period
  EXPECT_EQ(heard.Recent().late, 1u);
  EXPECT_EQ(heard.Recent().longest, seconds(26));
}

// A kubelet renews a Lease of 40 s every 10 s, which is half of this grace period.
TEST_F(HeartbeatsTest, RenewalsOfAValidLeaseAreNotLateInAShortGracePeriod) {
  Heartbeats strict(clock, seconds(20));
  coordination::v1::Lease lease = MakeLease(1);
  lease.spec.leaseDurationSeconds = 40;
  strict.LeaseSeen(lease);
  const auto renew_after = [&](Clock::Duration pause) {
    clock.Advance(pause);
    lease.spec.renewTime = MicroTime(TimeNow(clock));
    strict.LeaseSeen(lease);
  };
  renew_after(std::chrono::milliseconds(10'400));
  EXPECT_EQ(strict.Recent().late, 0u);
  EXPECT_EQ(strict.Recent().on_time, 1u);
  renew_after(seconds(21));
  EXPECT_EQ(strict.Recent().late, 1u);
}

TEST_F(HeartbeatsTest, FirstStatusIsNotLate) {
  const Node silent = MakeNode(0);
  heard.Observe(silent);
  clock.Advance(seconds(60));
  Node marked = silent;
  marked.status.conditions = *UnknownConditions(silent, TimeNow(clock));
  heard.Observe(marked);
  EXPECT_EQ(heard.Recent().late, 0u);
}

TEST_F(HeartbeatsTest, UnknownConditionsHaveUpstreamReasons) {
  const Time now = Time::FromUnix(5000);
  Node node = MakeNode(1);
  auto unknown = UnknownConditions(node, now);
  ASSERT_TRUE(unknown.has_value());
  ASSERT_EQ(unknown->size(), 4u);
  EXPECT_EQ(unknown->at(0).status, "Unknown");
  EXPECT_EQ(unknown->at(0).reason, "NodeStatusUnknown");
  EXPECT_EQ(unknown->at(0).message, "Kubelet stopped posting node status.");
  EXPECT_EQ(unknown->at(0).lastHeartbeatTime, Time::FromUnix(1));
  EXPECT_EQ(unknown->at(0).lastTransitionTime, now);
  EXPECT_EQ(unknown->at(3).type, "PIDPressure");
  EXPECT_EQ(unknown->at(3).reason, "NodeStatusNeverUpdated");
  node.status.conditions = *unknown;
  EXPECT_FALSE(UnknownConditions(node, now).has_value());
}

}  // namespace
}  // namespace cox::controllers
