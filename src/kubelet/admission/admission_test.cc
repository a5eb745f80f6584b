// SPDX-License-Identifier: Apache-2.0
#include "kubelet/admission/admission.h"

#include <gtest/gtest.h>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using core::v1::Node;
using core::v1::Pod;
using testing::MakePod;

TEST(AdmissionTest, RejectsPodsThatDoNotFitTheNode) {
  const auto node =
      json::Decode<Node>(R"({"metadata":{"name":"n","labels":{"disk":"ssd","size":"5"}},
      "spec":{"taints":[{"key":"a","effect":"NoExecute"},{"key":"b","effect":"NoSchedule"}]},
      "status":{"allocatable":{"cpu":"2","memory":"1Gi","pods":"110"}}})");
  ASSERT_TRUE(node.ok());
  const auto other = std::make_shared<const Pod>(MakePod(R"({"containers":[{"name":"c",
      "resources":{"requests":{"cpu":"1500m"}},"ports":[{"containerPort":1,"hostPort":80}]}]})"));
  const std::string tolerates = R"("tolerations":[{"key":"a","operator":"Exists"}],)";
  const struct {
    std::string spec, want;
  } kCases[] = {
      {"{" + tolerates + R"("containers":[{"name":"c","resources":{"requests":{"cpu":"500m"}}}]})",
       ""},
      {"{" + tolerates + R"("containers":[{"name":"c","resources":{"requests":{"cpu":"501m"}}}]})",
       "OutOfcpu: Node didn't have enough resource: cpu, requested: 501, used: 1500, capacity: "
       "2000"},
      {"{" + tolerates + R"("containers":[{"name":"c"}],"nodeSelector":{"disk":"hdd"}})",
       "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node "
       "affinity/selector"},
      {"{" + tolerates + R"("containers":[{"name":"c"}],"affinity":{"nodeAffinity":
          {"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"size","operator":"Gt","values":["4"]}]}]}}}})",
       ""},
      {R"({"containers":[{"name":"c"}]})",
       "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't "
       "tolerate"},
      {"{" + tolerates +
           R"("containers":[{"name":"c","ports":[{"containerPort":2,"hostPort":80}]}]})",
       "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested "
       "pod ports"},
      {"{" + tolerates +
           R"("containers":[{"name":"c","ports":[{"containerPort":2,"hostPort":80,"protocol":"UDP"}]}]})",
       ""},
  };
  for (const auto& c : kCases) {
    const auto rejection = Admit(MakePod(c.spec), &*node, 110, {other});
    EXPECT_EQ(rejection ? rejection->reason + ": " + rejection->message : "", c.want) << c.spec;
  }
}

TEST(AdmissionTest, RejectsPodsAboveMaxPods) {
  const auto other = std::make_shared<const Pod>(MakePod("{}"));
  EXPECT_EQ(Admit(MakePod("{}"), nullptr, 2, {other}), std::nullopt);
  EXPECT_EQ(Admit(MakePod("{}"), nullptr, 1, {other}),
            (Rejection{"OutOfpods",
                       "Node didn't have enough resource: pods, requested: 1, used: "
                       "1, capacity: 1"}));
}

}  // namespace
}  // namespace cox::kubelet
