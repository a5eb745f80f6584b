// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodeipam/nodeipam_controller.h"

#include "harness.h"

namespace cox::controllers {
namespace {

using core::v1::Node;

class NodeIpamTest : public ControllerTest {
 protected:
  void SetUp() override {
    ControllerTest::SetUp();
    clock.emplace();
  }
  void Give(const std::string& name, const std::string& cidr = "") {
    Node node;
    node.metadata.name = name;
    node.spec.podCIDR = cidr;
    if (!cidr.empty()) node.spec.podCIDRs = {cidr};
    Create(std::move(node));
  }
  std::string AwaitCidr(const std::string& name) {
    const auto node = testkit::WaitFor<Node>(
        *ctx, client(), {"", name}, [](const Node& n) { return !n.spec.podCIDRs.empty(); });
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return node.ok() ? node->spec.podCIDR : "";
  }
};

TEST_F(NodeIpamTest, NodesGetFreeSubnets) {
  Give("old", "10.244.0.0/24");
  NodeIpamOptions options;
  options.allocate_node_cidrs = true;
  options.cluster_cidrs = {"10.244.0.0/22"};
  options.service_cidrs = {"10.244.1.0/24"};
  Give("a");
  Start({{AddNodeIpamController, options}});
  EXPECT_EQ(AwaitCidr("a"), "10.244.2.0/24");
  Give("b");
  EXPECT_EQ(AwaitCidr("b"), "10.244.3.0/24");
  // The range is exhausted: the next node waits until another is deleted.
  Give("c");
  ASSERT_TRUE(client().Delete<Node>(*ctx, {"", "old"}).ok());
  const auto node = Eventually<Node>(
      {"", "c"}, [](const Node* n) { return n != nullptr && !n->spec.podCIDRs.empty(); });
  ASSERT_TRUE(node.ok()) << node.status().ToString();
  EXPECT_EQ(node->spec.podCIDR, "10.244.0.0/24");
}

}  // namespace
}  // namespace cox::controllers
