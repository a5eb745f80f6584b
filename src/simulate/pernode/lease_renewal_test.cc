// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/lease_renewal.h"

#include <gtest/gtest.h>

#include "api/coordination/v1.h"
#include "simulate/testing/node_harness.h"

namespace cox::simulate {
namespace {

using coordination::v1::Lease;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kPost = "POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
constexpr const char* kPut =
    "PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/sim-0";
constexpr const char* kGet =
    "GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/sim-0";

class LeaseRenewalTest : public NodeHarness {
 protected:
  LeaseRenewalTest() : connection_(shard, NewClient()), lease_(connection_, 0) {
    node_.metadata.name = "sim-0";
    node_.metadata.uid = "node-uid";
  }
  static std::string Stored(const std::string& version) {
    Lease lease;
    lease.metadata.resourceVersion = version;
    return Sealed(lease);
  }
  Lease Sent(const std::string& what) const {
    const auto request = Open(what);
    if (request == nullptr) return {};
    return *proto::Decode<Lease>(proto::Open(request->request.body)->raw);
  }

  core::v1::Node node_;
  NodeConnection connection_;
  LeaseRenewal lease_;
};

TEST_F(LeaseRenewalTest, RenewsEveryTenSecondsWithOneRequest) {
  lease_.Start(node_);
  EXPECT_EQ(Sent(kPost).metadata.ownerReferences.at(0).uid, "node-uid");
  Open(kPost)->Answer(201, Stored("1"));
  for (int i = 1; i < 5; ++i) {
    clock.Advance(seconds(10));
    ASSERT_NE(Open(kPut), nullptr) << i;
    EXPECT_EQ(Sent(kPut).metadata.resourceVersion, std::to_string(i));
    Open(kPut)->Answer(200, Stored(std::to_string(i + 1)));
  }
  EXPECT_EQ(sent.size(), 5U);
  EXPECT_EQ(Metric("coxswain_simulate_lease_renewals_total"), 5);
  EXPECT_EQ(Metric("coxswain_simulate_lease_renewals_late_total"), 0);
}

TEST_F(LeaseRenewalTest, ExistingLeaseIsReadAndUpdated) {
  lease_.Start(node_);
  Open(kPost)->Answer(409);
  clock.Advance(milliseconds(200));
  ASSERT_NE(Open(kGet), nullptr);
  Open(kGet)->Answer(200, Stored("77"));
  ASSERT_NE(Open(kPut), nullptr);
  EXPECT_EQ(Sent(kPut).metadata.resourceVersion, "77");
}

TEST_F(LeaseRenewalTest, DeletedLeaseIsCreatedAgain) {
  lease_.Start(node_);
  Open(kPost)->Answer(201, Stored("1"));
  clock.Advance(seconds(10));
  Open(kPut)->Answer(404);
  clock.Advance(milliseconds(200));
  EXPECT_NE(Open(kPost), nullptr);
}

TEST_F(LeaseRenewalTest, CountsDelayFromDueTimeAcrossRetries) {
  lease_.Start(node_);
  Open(kPost)->Answer(201, Stored("1"));
  // Renewals are spread over the period by the wall time: the first one is due after five seconds.
  clock.Advance(seconds(5));
  Open(kPut)->Break();
  clock.Advance(milliseconds(200));
  ASSERT_NE(Open(kPut), nullptr);
  EXPECT_EQ(Sent(kPut).metadata.resourceVersion, "1");  // the update may have been executed
  clock.Advance(seconds(10));                           // no response
  EXPECT_EQ(Metric("coxswain_simulate_requests_total{code=\"timeout\",request=\"lease\"}"), 1);
  clock.Advance(milliseconds(400));
  Open(kPut)->Answer(409);
  clock.Advance(milliseconds(800));
  ASSERT_NE(Open(kGet), nullptr);
  Open(kGet)->Answer(200, Stored("4"));
  clock.Advance(seconds(3));
  Open(kPut)->Answer(200, Stored("5"));
  EXPECT_DOUBLE_EQ(Metric("coxswain_simulate_lease_renewal_delay_max_seconds"), 14.4);
  EXPECT_EQ(Metric("coxswain_simulate_lease_renewal_failures_total"), 3);
}

TEST_F(LeaseRenewalTest, RenewalLaterThanTheLeaseLastsIsCounted) {
  lease_.Start(node_);
  Open(kPost)->Answer(201, Stored("1"));
  for (int i = 0; i < 200 && Metric("coxswain_simulate_lease_renewals_total") < 2; ++i) {
    clock.Advance(seconds(1));
    if (i < 45) continue;
    if (const auto get = Open(kGet)) get->Answer(200, Stored("1"));
    if (const auto put = Open(kPut)) put->Answer(200, Stored("2"));
  }
  EXPECT_EQ(Metric("coxswain_simulate_lease_renewals_late_total"), 1);
}

TEST_F(LeaseRenewalTest, StoppedNodeDoesNotRenew) {
  lease_.Start(node_, /*once=*/true);
  Open(kPost)->Answer(201, Stored("1"));
  clock.Advance(seconds(60));
  EXPECT_EQ(sent.size(), 1U);
  EXPECT_TRUE(lease_.renewed());

  lease_.Start(node_);
  Open(kPut)->Answer(200, Stored("2"));
  lease_.Stop();
  clock.Advance(seconds(60));
  EXPECT_EQ(sent.size(), 2U);
}

}  // namespace
}  // namespace cox::simulate
