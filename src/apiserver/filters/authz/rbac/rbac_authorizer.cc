// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/rbac_authorizer.h"

#include <algorithm>
#include <array>

#include "apiserver/filters/authz/rbac/rules.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

bool IsHealth(const RequestInfo& request) {
  constexpr std::string_view kPaths[] = {"/healthz", "/livez", "/readyz", "/version", "/version/"};
  return !request.is_resource && request.verb == "get" &&
         std::find(std::begin(kPaths), std::end(kPaths), request.path) != std::end(kPaths);
}

// RoleBinding "b/ns" of Role "r" to User "alice"
std::string Describe(const RbacIndex::Grant& grant) {
  const RbacBinding& binding = *grant.binding;
  const rbac::v1::Subject& subject = binding.subjects[grant.subject];
  std::string text = binding.ns.empty() ? "ClusterRoleBinding " + Quote(binding.name)
                                        : "RoleBinding " + Quote(binding.name + "/" + binding.ns);
  text += " of " + binding.role.kind + " " + Quote(binding.role.name) + " to " + subject.kind + " ";
  if (subject.kind != "ServiceAccount") return text + Quote(subject.name);
  const std::string& ns = subject.namespace_.empty() ? binding.ns : subject.namespace_;
  return text + Quote(subject.name + "/" + ns);
}

// Roles already evaluated for one decision. A role is often bound several times, to a user and to
// its groups.
class SeenRoles {
 public:
  // True if it was inserted before. If the array is full, roles may be evaluated twice.
  bool Insert(const RbacRules* rules) {
    const auto end = seen_.begin() + static_cast<ptrdiff_t>(count_);
    if (std::find(seen_.begin(), end, rules) != end) return true;
    if (count_ < seen_.size()) seen_[count_++] = rules;
    return false;
  }

 private:
  std::array<const RbacRules*, 16> seen_;
  size_t count_ = 0;
};

// Missing roles that bindings refer to, without duplicates.
class MissingRoles {
 public:
  void Add(const RbacBinding& binding) {
    std::string text = (binding.role.kind == "Role" ? "role" : "clusterrole") +
                       std::string(".rbac.authorization.k8s.io ") + Quote(binding.role.name) +
                       " not found";
    if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) {
      texts_.push_back(std::move(text));
    }
  }
  std::string Text() const {
    if (texts_.size() < 2) return texts_.empty() ? std::string() : texts_.front();
    return "[" + Join(texts_, ", ") + "]";
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

Decision RbacAuthorizer::Decide(const UserInfo& user, const RequestInfo& request,
                                const Selectors&) const {
  const RbacIndexPtr index = index_.Load();
  if (index == nullptr) return {IsHealth(request), {}};
  Decision decision;
  SeenRoles seen;
  MissingRoles missing;
  index->VisitGrants(user, request.is_resource ? std::string_view(request.namespace_) : "",
                     [&](const RbacIndex::Grant& grant, const RbacRules* rules) {
                       if (rules == nullptr) {
                         missing.Add(*grant.binding);
                         return true;
                       }
                       if (seen.Insert(rules)) return true;
                       for (const PolicyRule& rule : *rules) {
                         if (!RuleAllows(rule, request)) continue;
                         decision = {true, "RBAC: allowed by " + Describe(grant)};
                         return false;
                       }
                       return true;
                     });
  if (decision.allowed) return decision;
  const std::string why = missing.Text();
  if (!why.empty()) decision.reason = "RBAC: " + why;
  return decision;
}

UserRules RbacAuthorizer::Rules(const UserInfo& user, std::string_view ns) const {
  const RbacIndexPtr index = index_.Load();
  UserRules all;
  if (index == nullptr) {
    all.incomplete = true;
    all.error = "roles are not known yet";
    return all;
  }
  MissingRoles missing;
  index->VisitGrants(user, ns, [&](const RbacIndex::Grant& grant, const RbacRules* rules) {
    if (rules == nullptr) {
      missing.Add(*grant.binding);
    } else {
      all.rules.insert(all.rules.end(), rules->begin(), rules->end());
    }
    return true;
  });
  all.error = missing.Text();
  return all;
}

}  // namespace cox::apiserver
