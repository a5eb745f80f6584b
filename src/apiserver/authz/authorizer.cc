// SPDX-License-Identifier: Apache-2.0
#include "apiserver/authz/authorizer.h"

#include "base/strings.h"

namespace cox::apiserver {

UserRules AlwaysAllow::Rules(const UserInfo&, std::string_view) const {
  UserRules all;
  all.rules.push_back({.verbs = {"*"},
                       .apiGroups = {"*"},
                       .resources = {"*"},
                       .resourceNames = {},
                       .nonResourceURLs = {}});
  all.rules.push_back({.verbs = {"*"},
                       .apiGroups = {},
                       .resources = {},
                       .resourceNames = {},
                       .nonResourceURLs = {"*"}});
  return all;
}

Decision UnionAuthorizer::Authorize(const UserInfo& user, const RequestInfo& request) const {
  if (user.InGroup(kMastersGroup)) return {true, {}};
  std::string reasons;
  for (const Authorizer* member : members_) {
    Decision decision = member->Authorize(user, request);
    if (decision.allowed) return decision;
    if (decision.reason.empty()) continue;
    if (!reasons.empty()) reasons += '\n';
    reasons += decision.reason;
  }
  return {false, std::move(reasons)};
}

UserRules UnionAuthorizer::Rules(const UserInfo& user, std::string_view ns) const {
  UserRules all;
  for (const Authorizer* member : members_) {
    UserRules some = member->Rules(user, ns);
    for (rbac::v1::PolicyRule& rule : some.rules) all.rules.push_back(std::move(rule));
    all.incomplete = all.incomplete || some.incomplete;
    if (all.error.empty()) all.error = std::move(some.error);
  }
  return all;
}

Status ForbiddenStatus(const UserInfo& user, const RequestInfo& request,
                       const std::string& reason) {
  std::string message;
  StatusDetails details;
  if (request.is_resource) {
    details = {.name = request.name, .group = request.group, .kind = request.resource};
    message = request.resource;
    if (!request.group.empty()) message += "." + request.group;
    if (!request.name.empty()) message += " " + Quote(request.name);
    std::string resource = request.resource;
    if (!request.subresource.empty()) resource += "/" + request.subresource;
    message += " is forbidden: User " + Quote(user.name) + " cannot " + request.verb +
               " resource " + Quote(resource) + " in API group " + Quote(request.group);
    message += request.namespace_.empty() ? " at the cluster scope"
                                          : " in the namespace " + Quote(request.namespace_);
  } else {
    message = "forbidden: User " + Quote(user.name) + " cannot " + request.verb + " path " +
              Quote(request.path);
  }
  if (!reason.empty()) message += ": " + reason;
  return Status(Reason::kForbidden, std::move(message), std::move(details));
}

}  // namespace cox::apiserver
