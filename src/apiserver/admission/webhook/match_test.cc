// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/match.h"

#include <gmock/gmock.h>

#include "api/apps/v1.h"
#include "api/autoscaling/v2.h"
#include "api/core/v1.h"
#include "apiserver/testing/call_harness.h"

namespace cox::apiserver {
namespace {

using admissionregistration::v1::RuleWithOperations;

RuleWithOperations Rule(std::vector<std::string> operations, std::vector<std::string> groups,
                        std::vector<std::string> versions, std::vector<std::string> resources,
                        std::optional<std::string> scope = {}) {
  RuleWithOperations rule;
  rule.operations = std::move(operations);
  rule.rule.apiGroups = std::move(groups);
  rule.rule.apiVersions = std::move(versions);
  rule.rule.resources = std::move(resources);
  rule.rule.scope = std::move(scope);
  return rule;
}
RuleWithOperations Resources(std::vector<std::string> resources) {
  return Rule({"*"}, {"*"}, {"*"}, std::move(resources));
}

TEST(RuleMatches, MatchesAllPartsAndWildcards) {
  const RuleSubject pods{.operation = Operation::kCreate,
                         .group = "",
                         .version = "v1",
                         .resource = "pods",
                         .subresource = "",
                         .in_namespace = true};
  RuleSubject exec = pods;
  exec.subresource = "exec";
  exec.operation = Operation::kConnect;
  RuleSubject nodes = pods;
  nodes.resource = "nodes";
  nodes.in_namespace = false;
  struct Case {
    RuleWithOperations rule;
    bool pods, exec, nodes;
  };
  const Case cases[] = {
      {Resources({"*"}), true, false, true},
      {Resources({"*/*"}), true, true, true},
      {Resources({"pods"}), true, false, false},
      {Resources({"pods/*"}), true, true, false},
      {Resources({"pods/exec"}), false, true, false},
      {Resources({"*/exec"}), false, true, false},
      {Resources({"services", "nodes"}), false, false, true},
      {Rule({"CREATE"}, {"*"}, {"*"}, {"*/*"}), true, false, true},
      {Rule({"UPDATE", "CONNECT"}, {"*"}, {"*"}, {"*/*"}), false, true, false},
      {Rule({"*"}, {""}, {"*"}, {"*/*"}), true, true, true},
      {Rule({"*"}, {"apps"}, {"*"}, {"*/*"}), false, false, false},
      {Rule({"*"}, {"*"}, {"v1beta1"}, {"*/*"}), false, false, false},
      {Rule({"*"}, {"*"}, {"*"}, {"*/*"}, "Namespaced"), true, true, false},
      {Rule({"*"}, {"*"}, {"*"}, {"*/*"}, "Cluster"), false, false, true},
      {Rule({"*"}, {"*"}, {"*"}, {"*/*"}, "*"), true, true, true},
      {Rule({}, {"*"}, {"*"}, {"*/*"}), false, false, false},
  };
  for (const Case& c : cases) {
    const std::string resource = c.rule.rule.resources[0];
    EXPECT_EQ(RuleMatches(c.rule, pods), c.pods) << resource;
    EXPECT_EQ(RuleMatches(c.rule, exec), c.exec) << resource;
    EXPECT_EQ(RuleMatches(c.rule, nodes), c.nodes) << resource;
  }
}

class MatchTest : public testing::Test {
 protected:
  Result<const ServedResource*> Match(const Webhook& webhook, const AdmissionRequest& request) {
    return MatchWebhook(api_.ctx(), api_.registry(), webhook, request);
  }
  AdmissionRequest Request(const ServedResource& resource, const Object* object,
                           const Object* old = nullptr, Operation operation = Operation::kUpdate) {
    const meta::v1::ObjectMeta& meta = *(object != nullptr ? object : old)->object_meta();
    return {.operation = operation,
            .resource = resource,
            .subresource = {},
            .ns = meta.namespace_,
            .name = meta.name,
            .user = user_,
            .object = object,
            .old = old};
  }
  template <class T>
  static Object Labelled(std::string name, std::string ns, std::string label = {}) {
    T object;
    object.metadata.name = std::move(name);
    object.metadata.namespace_ = std::move(ns);
    if (!label.empty()) object.metadata.labels["l"] = label;
    return Object::Of(std::move(object));
  }
  static Webhook Hook(RuleWithOperations rule) {
    Webhook webhook;
    webhook.name = "w.example.com";
    webhook.rules = {std::move(rule)};
    return webhook;
  }

  ApiHarness api_;
  UserInfo user_;
  const ServedResource& maps_ = api_.registry().Hub(core::v1::ConfigMap::kKind);
  const ServedResource& namespaces_ = api_.registry().Hub(core::v1::Namespace::kKind);
};

TEST_F(MatchTest, EquivalentPolicyMatchesOtherVersions) {
  const Registry& registry = api_.registry();
  const ServedResource& v1 = *registry.Find("autoscaling", "v1", "horizontalpodautoscalers");
  const ServedResource& v2 = *registry.Find("autoscaling", "v2", "horizontalpodautoscalers");
  const Object object = Labelled<autoscaling::v2::HorizontalPodAutoscaler>("h", "default");
  Webhook webhook = Hook(Rule({"*"}, {"autoscaling"}, {"v2"}, {"*"}));
  EXPECT_EQ(*Match(webhook, Request(v2, &object)), &v2);
  EXPECT_EQ(*Match(webhook, Request(v1, &object)), &v2);
  webhook.equivalent = false;
  EXPECT_EQ(*Match(webhook, Request(v1, &object)), nullptr);
  // A rule for the requested version takes precedence, regardless of the order.
  webhook.equivalent = true;
  webhook.rules.push_back(Rule({"*"}, {"autoscaling"}, {"v1"}, {"*"}));
  EXPECT_EQ(*Match(webhook, Request(v1, &object)), &v1);
}

TEST_F(MatchTest, EventsAreEquivalentInBothGroups) {
  const ServedResource& core_events = *api_.registry().Find("", "v1", "events");
  const ServedResource& group_events = *api_.registry().Find("events.k8s.io", "v1", "events");
  if (&core_events.store() != &group_events.store()) GTEST_SKIP() << "stored apart";
  const Object object = Labelled<core::v1::Event>("e", "default");
  EXPECT_EQ(
      *Match(Hook(Rule({"*"}, {"events.k8s.io"}, {"v1"}, {"*"})), Request(core_events, &object)),
      &group_events);
}

TEST_F(MatchTest, ObjectSelectorMatchesOldOrNewObject) {
  Webhook webhook = Hook(Resources({"*"}));
  webhook.objects = *labels::Selector::Parse("l=yes");
  const Object yes = Labelled<core::v1::ConfigMap>("m", "default", "yes");
  const Object no = Labelled<core::v1::ConfigMap>("m", "default", "no");
  EXPECT_EQ(*Match(webhook, Request(maps_, &yes, &no)), &maps_);
  EXPECT_EQ(*Match(webhook, Request(maps_, &no, &yes)), &maps_);
  EXPECT_EQ(*Match(webhook, Request(maps_, nullptr, &yes, Operation::kDelete)), &maps_);
  EXPECT_EQ(*Match(webhook, Request(maps_, &no, &no)), nullptr);
}

TEST_F(MatchTest, NamespaceSelectorMatchesTheLabelsOfTheNamespace) {
  api_.Do({.method = "POST",
           .target = "/api/v1/namespaces",
           .body = R"({"metadata":{"name":"chosen","labels":{"l":"yes"}}})"});
  api_.Sync(core::v1::Namespace::kKind);
  Webhook webhook = Hook(Resources({"*"}));
  webhook.namespaces = *labels::Selector::Parse("l=yes");
  const Object chosen = Labelled<core::v1::ConfigMap>("m", "chosen");
  const Object other = Labelled<core::v1::ConfigMap>("m", "default");
  const Object lost = Labelled<core::v1::ConfigMap>("m", "nowhere");
  EXPECT_EQ(*Match(webhook, Request(maps_, &chosen)), &maps_);
  EXPECT_EQ(*Match(webhook, Request(maps_, &other)), nullptr);
  EXPECT_EQ(Match(webhook, Request(maps_, &lost)).status().message(),
            "namespaces \"nowhere\" not found");
  // Cluster-scoped objects always match.
  const Object node = Labelled<core::v1::Node>("n", "");
  const ServedResource& nodes = api_.registry().Hub(core::v1::Node::kKind);
  EXPECT_EQ(*Match(webhook, Request(nodes, &node)), &nodes);
}

TEST_F(MatchTest, NamespaceSelectorMatchesNamespacesByTheirOwnLabels) {
  Webhook webhook = Hook(Resources({"*"}));
  webhook.namespaces = *labels::Selector::Parse("l=yes");
  const Object yes = Labelled<core::v1::Namespace>("default", "", "yes");
  const Object no = Labelled<core::v1::Namespace>("default", "", "no");
  EXPECT_EQ(*Match(webhook, Request(namespaces_, &yes, &no)), &namespaces_);
  EXPECT_EQ(*Match(webhook, Request(namespaces_, &no, &yes)), nullptr);
  // For a delete, the stored labels count; "default" has none.
  EXPECT_EQ(*Match(webhook, Request(namespaces_, nullptr, &yes, Operation::kDelete)), nullptr);
  webhook.namespaces = {};
  webhook.rules = {Rule({"*"}, {"*"}, {"*"}, {"*"}, "Namespaced")};
  EXPECT_EQ(*Match(webhook, Request(namespaces_, &yes)), nullptr);
}

TEST_F(MatchTest, MatchConditionsFailAccordingToTheFailurePolicy) {
  Webhook webhook = Hook(Resources({"*"}));
  webhook.has_conditions = true;
  const Object map = Labelled<core::v1::ConfigMap>("m", "default");
  EXPECT_THAT(Match(webhook, Request(maps_, &map)).status().message(),
              testing::HasSubstr("configmaps \"m\" is forbidden: matchConditions of admission "
                                 "webhook \"w.example.com\" cannot be evaluated"));
  webhook.ignore_failure = true;
  EXPECT_EQ(*Match(webhook, Request(maps_, &map)), nullptr);
}

TEST_F(MatchTest, AdmissionConfigurationsAreExempt) {
  int exempt = 0;
  const ServedSetPtr now = api_.registry().served();
  for (const auto& [name, group] : now->groups()) {
    for (const ServedKind& served : group->kinds()) {
      if (served.resource == nullptr) continue;
      const Object object(served.resource->store().kind());
      if (!IsExempt(Request(*served.resource, &object))) continue;
      ++exempt;
      EXPECT_EQ(name, "admissionregistration.k8s.io");
    }
  }
  EXPECT_GE(exempt, 4);
}

}  // namespace
}  // namespace cox::apiserver
