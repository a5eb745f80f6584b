// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/bootstrap_policy/policy.h"

#include <span>
#include <string>

#include "base/check.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";
constexpr std::string_view kControllerPrefix = "system:controller:";

void MarkAsBootstrap(meta::v1::ObjectMeta& meta) {
  meta.labels["kubernetes.io/bootstrapping"] = "rbac-defaults";
  meta.annotations[kAutoUpdate] = "true";
}

std::string AggregationLabel(std::string_view role) {
  return std::string(kRbacGroup) + "/aggregate-to-" + std::string(role);
}

// "get,list core:pods [web]" or "get /healthz".
Result<rbac::v1::PolicyRule> ParseRule(std::string_view line) {
  rbac::v1::PolicyRule rule;
  const auto [verbs, object, _] = Cut(line, ' ');
  rule.verbs = Split(verbs, ',').ToStrings();
  const auto [target, names, named] = Cut(object, ' ');
  if (target.empty()) return Status::BadRequest("a rule needs verbs and what they act on");
  const size_t colon = target.find(':');
  if (colon == std::string_view::npos) {
    rule.nonResourceURLs = Split(target, ',').ToStrings();
    return rule;
  }
  rule.apiGroups = Split(target.substr(0, colon), ',').ToStrings();
  for (std::string& group : rule.apiGroups) {
    if (group == "core") group.clear();
  }
  rule.resources = Split(target.substr(colon + 1), ',').ToStrings();
  if (named) {
    if (names.size() < 2 || names.front() != '[' || names.back() != ']')
      return Status::BadRequest("names go in []");
    rule.resourceNames = Split(names.substr(1, names.size() - 2), ',').ToStrings();
  }
  return rule;
}

// "user:alice", "group:admins", "serviceaccount:kube-system/x".
Result<rbac::v1::Subject> ParseSubject(std::string_view line) {
  rbac::v1::Subject subject;
  const auto [kind, name, _] = Cut(line, ':');
  if (kind == "serviceaccount") {
    const auto [ns, account, found] = Cut(name, '/');
    if (!found) return Status::BadRequest("a service account has a namespace");
    subject.kind = "ServiceAccount";
    subject.namespace_ = ns;
    subject.name = account;
    return subject;
  }
  if (kind != "user" && kind != "group") return Status::BadRequest("no such kind of subject");
  subject.kind = kind == "user" ? "User" : "Group";
  subject.apiGroup = kRbacGroup;
  subject.name = name;
  return subject;
}

class Parser {
 public:
  explicit Parser(RbacPolicy* policy) : policy_(*policy) {}

  Status Parse(std::string_view text) {
    std::string line;  // with its continuation lines
    for (std::string_view next : Split(text, '\n')) {
      if (next.starts_with("    ")) {
        line += TrimSpace(next);
        continue;
      }
      COX_RETURN_IF_ERROR(Line(line));
      line = next;
    }
    return Line(line);
  }

 private:
  Status Line(std::string_view line) {
    if (line.empty()) return {};
    Status status = line.starts_with("  ") ? Detail(line.substr(2)) : Heading(line);
    if (status.ok()) return {};
    return Status::BadRequest("policy line \"" + std::string(line) + "\": " + status.message());
  }

  Status Heading(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::string_view word : Split(line, ' ')) words.push_back(word);
    if (words.size() < 2) return Status::BadRequest("a name is missing");
    const auto [before, after, namespaced] = Cut(words[1], '/');
    const std::string_view ns = namespaced ? before : "", name = namespaced ? after : before;
    const std::span<const std::string_view> more = std::span(words).subspan(2);
    if (words[0] == "role") return Role(ns, name, more);
    if (words[0] == "bind") return Binding(ns, name, more);
    return Status::BadRequest("neither role nor bind");
  }

  Status Role(std::string_view ns, std::string_view name, std::span<const std::string_view> more) {
    subjects_ = nullptr;
    if (!ns.empty()) {
      rbac::v1::Role& role = policy_.roles.emplace_back();
      role.metadata.name = name;
      role.metadata.namespace_ = ns;
      MarkAsBootstrap(role.metadata);
      rules_ = &role.rules;
      return {};
    }
    rbac::v1::ClusterRole& role = policy_.cluster_roles.emplace_back();
    role.metadata.name = name;
    MarkAsBootstrap(role.metadata);
    rules_ = &role.rules;
    for (std::string_view word : more) {
      const auto [key, value, _] = Cut(word, '=');
      if (key == "part-of") {
        role.metadata.labels[AggregationLabel(value)] = "true";
      } else if (key == "sum-of") {
        meta::v1::LabelSelector selector;
        selector.matchLabels[AggregationLabel(value)] = "true";
        role.aggregationRule.emplace().clusterRoleSelectors.push_back(std::move(selector));
      } else {
        return Status::BadRequest("neither part-of nor sum-of");
      }
    }
    return {};
  }

  Status Binding(std::string_view ns, std::string_view name,
                 std::span<const std::string_view> more) {
    rules_ = nullptr;
    std::string_view role = name;
    if (!more.empty()) {
      if (!more[0].starts_with("role=")) return Status::BadRequest("only role= may follow");
      role = more[0].substr(5);
    }
    if (ns.empty()) {
      subjects_ = &AddClusterBinding(name, role).subjects;
      return {};
    }
    rbac::v1::RoleBinding& binding = policy_.role_bindings.emplace_back();
    binding.metadata.name = name;
    binding.metadata.namespace_ = ns;
    MarkAsBootstrap(binding.metadata);
    binding.roleRef = {
        .apiGroup = std::string(kRbacGroup), .kind = "Role", .name = std::string(role)};
    subjects_ = &binding.subjects;
    return {};
  }

  Status Detail(std::string_view line) {
    if (rules_ != nullptr) {
      COX_ASSIGN_OR_RETURN(rbac::v1::PolicyRule rule, ParseRule(line));
      rules_->push_back(std::move(rule));
      return {};
    }
    if (subjects_ == nullptr) return Status::BadRequest("belongs to nothing");
    COX_ASSIGN_OR_RETURN(rbac::v1::Subject subject, ParseSubject(line));
    subjects_->push_back(std::move(subject));
    return {};
  }

 public:
  rbac::v1::ClusterRoleBinding& AddClusterBinding(std::string_view name, std::string_view role) {
    rbac::v1::ClusterRoleBinding& binding = policy_.cluster_role_bindings.emplace_back();
    binding.metadata.name = name;
    MarkAsBootstrap(binding.metadata);
    binding.roleRef = {
        .apiGroup = std::string(kRbacGroup), .kind = "ClusterRole", .name = std::string(role)};
    return binding;
  }

 private:
  RbacPolicy& policy_;
  // The targets for the lines of the current role or binding. One of them is null.
  List<rbac::v1::PolicyRule>* rules_ = nullptr;
  List<rbac::v1::Subject>* subjects_ = nullptr;
};

}  // namespace

Status ParsePolicy(std::string_view text, RbacPolicy* policy) { return Parser(policy).Parse(text); }

RbacPolicy BootstrapPolicy() {
  RbacPolicy policy;
  for (std::string_view text :
       {ClusterRolePolicy(), ControllerRolePolicy(), NamespaceRolePolicy()}) {
    const Status parsed = ParsePolicy(text, &policy);
    COX_CHECK(parsed.ok()) << parsed.message();
  }
  for (const rbac::v1::ClusterRole& role : policy.cluster_roles) {
    const std::string& name = role.metadata.name;
    if (!name.starts_with(kControllerPrefix)) continue;
    Parser(&policy)
        .AddClusterBinding(name, name)
        .subjects.push_back({.kind = "ServiceAccount",
                             .name = name.substr(kControllerPrefix.size()),
                             .namespace_ = "kube-system"});
  }
  return policy;
}

}  // namespace cox::apiserver
