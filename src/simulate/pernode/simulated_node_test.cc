// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/simulated_node.h"

#include <gtest/gtest.h>

#include "simulate/node_life.h"
#include "simulate/testing/node_harness.h"

namespace cox::simulate {
namespace {

using core::v1::Node;
using std::chrono::milliseconds;
using std::chrono::seconds;

class SimulatedNodeTest : public NodeHarness {
 protected:
  void Start() {
    node_ = std::make_unique<SimulatedNode>(shard, 0, NewClient());
    node_->Start([this] { ++started_; });
  }
  Node Registered() const {
    Node node = MakeNode(options, 0, clock.Now());
    node.metadata.uid = "node-uid";
    node.metadata.resourceVersion = "3";
    return node;
  }
  // Answers the watch of the Node with its current state.
  std::shared_ptr<FakeExchange> ListNode(const Node& node) {
    auto watch = Open("GET /api/v1/nodes?watch=true");
    EXPECT_NE(watch, nullptr);
    watch->observer->OnHeaders(200, {});
    watch->observer->OnData(Event("ADDED", node) + Bookmark<Node>("4", true));
    return watch;
  }

  int started_ = 0;
  std::unique_ptr<SimulatedNode> node_;
};

TEST_F(SimulatedNodeTest, RegistersThenWatchesAndRenews) {
  Start();
  EXPECT_EQ(sent.size(), 1U);
  Open("POST /api/v1/nodes")->Answer(201, Sealed(Registered()));
  EXPECT_EQ(started_, 1);
  for (const char* watch :
       {"GET /api/v1/nodes?watch=true", "GET /api/v1/pods?watch=true",
        "GET /api/v1/services?watch=true", "GET /apis/discovery.k8s.io/v1/endpointslices?watch"}) {
    EXPECT_EQ(CountOpen(watch), 1U) << watch;
  }
  EXPECT_EQ(CountOpen("POST /apis/coordination.k8s.io"), 1U);
  EXPECT_EQ(Metric("coxswain_simulate_nodes_ready"), 1);
}

TEST_F(SimulatedNodeTest, NodeOfPreviousProcessIsRead) {
  Start();
  Open("POST /api/v1/nodes")->Answer(409);
  Open("GET /api/v1/nodes/sim-0")->Answer(200, Sealed(Registered()));
  EXPECT_EQ(started_, 1);
  EXPECT_EQ(Metric("coxswain_simulate_nodes_registered"), 1);
}

TEST_F(SimulatedNodeTest, FailedRegistrationLetsOthersStartAndIsRepeated) {
  Start();
  Open("POST /api/v1/nodes")->Break();
  EXPECT_EQ(started_, 1);
  clock.Advance(milliseconds(200));
  Open("POST /api/v1/nodes")->Answer(201, Sealed(Registered()));
  EXPECT_EQ(started_, 1);
  EXPECT_EQ(Metric("coxswain_simulate_nodes_registered"), 1);
}

TEST_F(SimulatedNodeTest, WritesStatusPeriodicallyAndWhenNotReady) {
  Start();
  Open("POST /api/v1/nodes")->Answer(201, Sealed(Registered()));
  const auto watch = ListNode(Registered());
  EXPECT_EQ(Open("PATCH"), nullptr);
  clock.Advance(seconds(300));
  const auto periodic = Open("PATCH /api/v1/nodes/sim-0/status");
  ASSERT_NE(periodic, nullptr);
  periodic->Answer(200);
  watch->observer->OnData(Event("MODIFIED", Registered()));
  EXPECT_EQ(Open("PATCH"), nullptr);

  Node unknown = Registered();
  for (auto& condition : unknown.status.conditions) condition.status = "Unknown";
  watch->observer->OnData(Event("MODIFIED", unknown));
  EXPECT_NE(Open("PATCH /api/v1/nodes/sim-0/status"), nullptr);
  EXPECT_EQ(Metric("coxswain_simulate_nodes_ready"), 0);
  EXPECT_EQ(Metric("coxswain_simulate_nodes_became_not_ready_total"), 1);
}

TEST_F(SimulatedNodeTest, SilencedNodeSendsNoHeartbeats) {
  Start();
  Node silenced = Registered();
  silenced.metadata.annotations[std::string(kFail)] = "true";
  Open("POST /api/v1/nodes")->Answer(201, Sealed(silenced));
  const auto watch = ListNode(silenced);
  clock.Advance(seconds(400));
  EXPECT_EQ(Open("POST /apis/coordination.k8s.io"), nullptr);
  EXPECT_EQ(Open("PATCH"), nullptr);
  watch->observer->OnData(Event("MODIFIED", Registered()));
  EXPECT_NE(Open("POST /apis/coordination.k8s.io"), nullptr);
}

TEST_F(SimulatedNodeTest, DeletedNodeStops) {
  Start();
  Open("POST /api/v1/nodes")->Answer(201, Sealed(Registered()));
  const auto watch = ListNode(Registered());
  watch->observer->OnData(Event("DELETED", Registered()));
  EXPECT_EQ(Metric("coxswain_simulate_nodes_registered"), 0);
  const size_t before = CountOpen("POST") + CountOpen("PUT") + CountOpen("PATCH");
  clock.Advance(seconds(5));
  EXPECT_EQ(CountOpen("POST") + CountOpen("PUT") + CountOpen("PATCH"), before);
}

}  // namespace
}  // namespace cox::simulate
