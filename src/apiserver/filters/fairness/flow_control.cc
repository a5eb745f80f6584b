// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/flow_control.h"

#include <span>
#include <string>

#include "apiserver/registry/kinds/flowcontrol/strategy.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using flowcontrol::v1::FlowSchema;
using flowcontrol::v1::PolicyRulesWithSubjects;
using flowcontrol::v1::PriorityLevelConfiguration;

struct Level {
  std::string_view name;
  int32_t shares;
  int32_t queues;  // 0: requests without a free seat are rejected immediately
  int32_t hand_size;
  int32_t lendable_percent;
};
constexpr int32_t kQueueLength = 50;
constexpr std::string_view kExemptLevel = "exempt";
constexpr Level kLevels[] = {
    {"system", 30, 64, 6, 33},         {"node-high", 40, 64, 6, 25},
    {"leader-election", 10, 16, 4, 0}, {"workload-high", 40, 128, 6, 50},
    {"workload-low", 100, 128, 6, 90}, {"global-default", 20, 128, 6, 50},
    {"catch-all", 5, 0, 0, 0},
};

// The requests that a schema matches, as comma-separated lists.
struct Target {
  std::string_view verbs, groups, resources;
  bool cluster_scope;
};
constexpr Target kEverything = {"*", "*", "*", true};
constexpr Target kNodeTargets[] = {{"*", "", "nodes,nodes/status", true},
                                   {"*", "coordination.k8s.io", "leases", false}};
constexpr Target kLeases[] = {{"get,create,update", "coordination.k8s.io", "leases", false}};

struct Schema {
  std::string_view name, level;
  int32_t precedence;
  std::string_view distinguisher;   // empty: none
  std::string_view subjects;        // user:x, group:x or serviceaccount:namespace/name
  std::span<const Target> targets;  // empty: all, unless there are paths
  std::string_view paths = {};      // for GET; instead of resources
};
// The mandatory schemas exempt and catch-all are defined with their validation.
constexpr Schema kSchemas[] = {
    {"system-nodes", "system", 500, "ByUser", "group:system:nodes", {}},
    {"system-node-high", "node-high", 400, "ByUser", "group:system:nodes", kNodeTargets},
    {"probes",
     "exempt",
     2,
     "",
     "group:system:unauthenticated,group:system:authenticated",
     {},
     "/healthz,/readyz,/livez"},
    {"system-leader-election", "leader-election", 100, "ByUser",
     "user:system:kube-controller-manager,user:system:kube-scheduler,serviceaccount:kube-system/*",
     kLeases},
    {"kube-controller-manager",
     "workload-high",
     800,
     "ByNamespace",
     "user:system:kube-controller-manager",
     {}},
    {"kube-scheduler", "workload-high", 800, "ByNamespace", "user:system:kube-scheduler", {}},
    {"kube-system-service-accounts",
     "workload-high",
     900,
     "ByNamespace",
     "serviceaccount:kube-system/*",
     {}},
    {"service-accounts", "workload-low", 9000, "ByUser", "group:system:serviceaccounts", {}},
    {"global-default",
     "global-default",
     9900,
     "ByUser",
     "group:system:unauthenticated,group:system:authenticated",
     {}},
};

List<std::string> SplitList(std::string_view text) { return Split(text, ',').ToStrings(); }

flowcontrol::v1::Subject SubjectOf(std::string_view text) {
  flowcontrol::v1::Subject subject;
  const auto [kind, name, _] = Cut(text, ':');
  if (kind == "user") {
    subject.kind = "User";
    subject.user.emplace().name = name;
  } else if (kind == "group") {
    subject.kind = "Group";
    subject.group.emplace().name = name;
  } else {
    const auto [ns, account, found] = Cut(name, '/');
    subject.kind = "ServiceAccount";
    subject.serviceAccount.emplace() = {.namespace_ = std::string(ns),
                                        .name = std::string(account)};
  }
  return subject;
}

PolicyRulesWithSubjects RuleOf(const Schema& schema) {
  PolicyRulesWithSubjects rule;
  for (std::string_view subject : Split(schema.subjects, ',')) {
    rule.subjects.push_back(SubjectOf(subject));
  }
  if (!schema.paths.empty()) {
    rule.nonResourceRules.push_back({.verbs = {"get"}, .nonResourceURLs = SplitList(schema.paths)});
    return rule;
  }
  const bool everything = schema.targets.empty();
  for (const Target& target : everything ? std::span(&kEverything, 1) : schema.targets) {
    rule.resourceRules.push_back({.verbs = SplitList(target.verbs),
                                  .apiGroups = SplitList(target.groups),
                                  .resources = SplitList(target.resources),
                                  .clusterScope = target.cluster_scope,
                                  .namespaces = {"*"}});
  }
  if (everything) rule.nonResourceRules.push_back({.verbs = {"*"}, .nonResourceURLs = {"*"}});
  return rule;
}

template <class T>
T Named(std::string_view name) {
  T object;
  object.metadata.name = name;
  object.metadata.annotations[kAutoUpdateSpec] = "true";
  return object;
}

}  // namespace

List<PriorityLevelConfiguration> BootstrapPriorityLevels() {
  List<PriorityLevelConfiguration> levels;
  PriorityLevelConfiguration exempt = Named<PriorityLevelConfiguration>(kExemptLevel);
  exempt.spec.type = flowcontrol::v1::kPriorityLevelEnablementExempt;
  exempt.spec.exempt.emplace() = {.nominalConcurrencyShares = 0, .lendablePercent = 0};
  for (const Level& row : kLevels) {
    PriorityLevelConfiguration level = Named<PriorityLevelConfiguration>(row.name);
    level.spec.type = flowcontrol::v1::kPriorityLevelEnablementLimited;
    flowcontrol::v1::LimitedPriorityLevelConfiguration& limited = level.spec.limited.emplace();
    limited.nominalConcurrencyShares = row.shares;
    limited.lendablePercent = row.lendable_percent;
    if (row.queues == 0) {
      limited.limitResponse.type = flowcontrol::v1::kLimitResponseTypeReject;
    } else {
      limited.limitResponse.type = flowcontrol::v1::kLimitResponseTypeQueue;
      limited.limitResponse.queuing.emplace() = {
          .queues = row.queues, .handSize = row.hand_size, .queueLengthLimit = kQueueLength};
    }
    levels.push_back(std::move(level));
  }
  levels.push_back(std::move(exempt));
  return levels;
}

List<FlowSchema> BootstrapFlowSchemas() {
  List<FlowSchema> schemas;
  for (std::string_view name : {"exempt", "catch-all"}) {
    FlowSchema schema = Named<FlowSchema>(name);
    schema.spec = *MandatoryFlowSchema(name);
    schemas.push_back(std::move(schema));
  }
  for (const Schema& row : kSchemas) {
    FlowSchema schema = Named<FlowSchema>(row.name);
    schema.spec.priorityLevelConfiguration.name = row.level;
    schema.spec.matchingPrecedence = row.precedence;
    if (!row.distinguisher.empty()) {
      schema.spec.distinguisherMethod.emplace().type = row.distinguisher;
    }
    schema.spec.rules.push_back(RuleOf(row));
    schemas.push_back(std::move(schema));
  }
  return schemas;
}

}  // namespace cox::apiserver
