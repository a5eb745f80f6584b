// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/authorizer/authorizer.h"

#include <algorithm>

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

bool UnionAuthorizer::MayBlock() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const Authorizer* member) { return member->MayBlock(); });
}

Decision UnionAuthorizer::Decide(const UserInfo& user, const RequestInfo& request,
                                 const Selectors& selectors) const {
  if (user.InGroup(kMastersGroup)) return {true, {}};
  Decision neither;
  std::vector<std::string> errors;
  for (const Authorizer* member : members_) {
    Decision decision = member->Authorize(user, request, selectors);
    if (decision.allowed || decision.denied) return decision;
    if (!decision.error.empty()) errors.push_back(std::move(decision.error));
    if (decision.reason.empty()) continue;
    if (!neither.reason.empty()) neither.reason += '\n';
    neither.reason += decision.reason;
  }
  if (!errors.empty()) {
    neither.error = errors.size() == 1 ? errors.front() : "[" + Join(errors, ", ") + "]";
  }
  return neither;
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

Status StatusOf(const Decision& decision, const UserInfo& user, const RequestInfo& request) {
  if (decision.allowed) return {};
  // If evaluation failed, the client receives 500 instead of 403, so that it retries.
  if (!decision.error.empty()) return Status::Internal(decision.error);
  return ForbiddenStatus(user, request, decision.reason);
}

}  // namespace cox::apiserver
