// SPDX-License-Identifier: Apache-2.0
#include "object/core/node_selector.h"

#include <gtest/gtest.h>

namespace cox::core_rules {
namespace {

using core::v1::Node;
using core::v1::NodeSelectorRequirement;
using core::v1::Pod;

Node TestNode() {
  Node node;
  node.metadata.name = "n1";
  node.metadata.labels["disk"] = "ssd";
  node.metadata.labels["cores"] = "8";
  return node;
}

TEST(NodeSelectorTest, Requirements) {
  const struct {
    NodeSelectorRequirement requirement;
    bool holds;
  } kCases[] = {
      {{.key = "disk", .operator_ = "In", .values = {"hdd", "ssd"}}, true},
      {{.key = "disk", .operator_ = "In", .values = {"hdd"}}, false},
      {{.key = "none", .operator_ = "In", .values = {"ssd"}}, false},
      {{.key = "disk", .operator_ = "NotIn", .values = {"ssd"}}, false},
      {{.key = "disk", .operator_ = "NotIn", .values = {"hdd"}}, true},
      {{.key = "none", .operator_ = "NotIn", .values = {"ssd"}}, true},
      {{.key = "disk", .operator_ = "Exists"}, true},
      {{.key = "none", .operator_ = "Exists"}, false},
      {{.key = "disk", .operator_ = "DoesNotExist"}, false},
      {{.key = "none", .operator_ = "DoesNotExist"}, true},
      {{.key = "cores", .operator_ = "Gt", .values = {"7"}}, true},
      {{.key = "cores", .operator_ = "Gt", .values = {"8"}}, false},
      {{.key = "cores", .operator_ = "Lt", .values = {"9"}}, true},
      {{.key = "cores", .operator_ = "Lt", .values = {"8"}}, false},
      {{.key = "cores", .operator_ = "Lt", .values = {"9", "10"}}, false},
      {{.key = "cores", .operator_ = "Lt", .values = {"many"}}, false},
      {{.key = "disk", .operator_ = "Gt", .values = {"1"}}, false},
      {{.key = "none", .operator_ = "Lt", .values = {"1"}}, false},
      {{.key = "cores", .operator_ = "Like", .values = {"8"}}, false},
  };
  const Node node = TestNode();
  for (const auto& c : kCases) {
    const std::string* value = node.metadata.labels.Get(c.requirement.key);
    EXPECT_EQ(Holds(c.requirement, value), c.holds)
        << c.requirement.key << " " << c.requirement.operator_;
  }
}

TEST(NodeSelectorTest, AllRequirementsOfATermMustMatchAndEmptyTermMatchesNothing) {
  const Node node = TestNode();
  const NodeSelectorRequirement ssd{.key = "disk", .operator_ = "In", .values = {"ssd"}};
  const NodeSelectorRequirement no_cores{.key = "cores", .operator_ = "DoesNotExist"};
  const NodeSelectorRequirement here{.key = "metadata.name", .operator_ = "In", .values = {"n1"}};
  const NodeSelectorRequirement there{.key = "metadata.name", .operator_ = "In", .values = {"n2"}};
  const NodeSelectorRequirement uid{.key = "metadata.uid", .operator_ = "Exists"};
  EXPECT_FALSE(Matches({}, node));
  EXPECT_TRUE(Matches({.matchExpressions = {ssd}}, node));
  EXPECT_FALSE(Matches({.matchExpressions = {ssd, no_cores}}, node));
  EXPECT_TRUE(Matches({.matchFields = {here}}, node));
  EXPECT_FALSE(Matches({.matchFields = {uid}}, node));  // not a supported field
  EXPECT_TRUE(Matches({.matchExpressions = {ssd}, .matchFields = {here}}, node));
  EXPECT_FALSE(Matches({.matchExpressions = {ssd}, .matchFields = {there}}, node));
}

TEST(NodeSelectorTest, PodRequiresNodeSelectorAndOneAffinityTerm) {
  const Node node = TestNode();
  Pod pod;
  EXPECT_TRUE(MatchesRequired(pod, node));
  pod.spec.nodeSelector["disk"] = "ssd";
  EXPECT_TRUE(MatchesRequired(pod, node));

  auto& affinity = pod.spec.affinity.emplace().nodeAffinity.emplace();
  EXPECT_TRUE(MatchesRequired(pod, node));
  auto& terms = affinity.requiredDuringSchedulingIgnoredDuringExecution.emplace().nodeSelectorTerms;
  EXPECT_FALSE(MatchesRequired(pod, node));  // an empty list of terms matches no node
  terms.push_back({.matchExpressions = {{.key = "cores", .operator_ = "Gt", .values = {"8"}}}});
  EXPECT_FALSE(MatchesRequired(pod, node));
  terms.push_back({.matchExpressions = {{.key = "cores", .operator_ = "Gt", .values = {"7"}}}});
  EXPECT_TRUE(MatchesRequired(pod, node));

  pod.spec.nodeSelector["zone"] = "a";
  EXPECT_FALSE(MatchesRequired(pod, node));
}

}  // namespace
}  // namespace cox::core_rules
