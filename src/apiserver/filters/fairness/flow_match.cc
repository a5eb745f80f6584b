// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/flow_match.h"

#include <algorithm>
#include <string>
#include <vector>

namespace cox::apiserver {
namespace {

using flowcontrol::v1::NonResourcePolicyRule;
using flowcontrol::v1::PolicyRulesWithSubjects;
using flowcontrol::v1::ResourcePolicyRule;
using flowcontrol::v1::Subject;

constexpr std::string_view kAll = "*";
constexpr std::string_view kAccountPrefix = "system:serviceaccount:";

bool Names(const List<std::string>& list, std::string_view wanted) {
  return std::any_of(list.begin(), list.end(),
                     [wanted](const std::string& each) { return each == kAll || each == wanted; });
}

// "system:serviceaccount:NAMESPACE:NAME"
bool IsAccount(std::string_view user, std::string_view ns, std::string_view name) {
  if (!user.starts_with(kAccountPrefix)) return false;
  user.remove_prefix(kAccountPrefix.size());
  const size_t colon = user.find(':');
  if (colon == user.npos || user.substr(0, colon) != ns) return false;
  return name == kAll || user.substr(colon + 1) == name;
}

bool IsSubject(const Subject& subject, const UserInfo& user) {
  if (subject.kind == flowcontrol::v1::kSubjectKindUser) {
    return subject.user && (subject.user->name == kAll || subject.user->name == user.name);
  }
  if (subject.kind == flowcontrol::v1::kSubjectKindGroup) {
    return subject.group && (subject.group->name == kAll || user.InGroup(subject.group->name));
  }
  if (subject.kind == flowcontrol::v1::kSubjectKindServiceAccount) {
    return subject.serviceAccount &&
           IsAccount(user.name, subject.serviceAccount->namespace_, subject.serviceAccount->name);
  }
  return false;
}

// "pods" or "pods/status".
bool NamesResource(const List<std::string>& list, const RequestInfo& info) {
  return std::any_of(list.begin(), list.end(), [&info](std::string_view each) {
    if (each == kAll) return true;
    if (info.subresource.empty()) return each == info.resource;
    return each.size() == info.resource.size() + 1 + info.subresource.size() &&
           each.starts_with(info.resource) && each[info.resource.size()] == '/' &&
           each.ends_with(info.subresource);
  });
}

bool IsResource(const ResourcePolicyRule& rule, const RequestInfo& info) {
  if (!Names(rule.verbs, info.verb) || !Names(rule.apiGroups, info.group)) return false;
  if (!NamesResource(rule.resources, info)) return false;
  return info.namespace_.empty() ? rule.clusterScope : Names(rule.namespaces, info.namespace_);
}

bool IsPath(const NonResourcePolicyRule& rule, const RequestInfo& info) {
  if (!Names(rule.verbs, info.verb)) return false;
  const std::string_view path = info.path;
  return std::any_of(
      rule.nonResourceURLs.begin(), rule.nonResourceURLs.end(), [path](std::string_view url) {
        if (url == kAll || url == path) return true;
        return url.ends_with("/*") && path.starts_with(url.substr(0, url.size() - 1));
      });
}

bool MatchesRule(const PolicyRulesWithSubjects& rule, const UserInfo& user,
                 const RequestInfo& info) {
  const auto is_subject = [&user](const Subject& subject) { return IsSubject(subject, user); };
  if (std::none_of(rule.subjects.begin(), rule.subjects.end(), is_subject)) return false;
  if (info.is_resource) {
    return std::any_of(rule.resourceRules.begin(), rule.resourceRules.end(),
                       [&info](const auto& each) { return IsResource(each, info); });
  }
  return std::any_of(rule.nonResourceRules.begin(), rule.nonResourceRules.end(),
                     [&info](const auto& each) { return IsPath(each, info); });
}

}  // namespace

bool MatchesFlowSchema(const flowcontrol::v1::FlowSchemaSpec& schema, const UserInfo& user,
                       const RequestInfo& info) {
  return std::any_of(
      schema.rules.begin(), schema.rules.end(),
      [&](const PolicyRulesWithSubjects& rule) { return MatchesRule(rule, user, info); });
}

std::string_view DistinguisherOf(const flowcontrol::v1::FlowSchemaSpec& schema,
                                 const UserInfo& user, const RequestInfo& info) {
  if (!schema.distinguisherMethod) return {};
  if (schema.distinguisherMethod->type ==
      flowcontrol::v1::kFlowDistinguisherMethodByNamespaceType) {
    return info.namespace_;
  }
  return user.name;
}

}  // namespace cox::apiserver
