// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/rbac_guard.h"

#include <set>

#include "apiserver/filters/authz/rbac/rules.h"
#include "apiserver/registry/store/errors.h"
#include "base/strings.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using rbac::v1::ClusterRole;
using rbac::v1::ClusterRoleBinding;
using rbac::v1::Role;
using rbac::v1::RoleBinding;
using rbac::v1::RoleRef;

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

const List<PolicyRule>& RulesOf(const Object& role) {
  return role.As<Role>() != nullptr ? role.As<Role>()->rules : role.As<ClusterRole>()->rules;
}

// Whether two objects of a kind differ only in metadata.
bool SameButMetadata(const Object& a, const Object& b) {
  Object x = a, y = b;
  *x.object_meta() = {};
  *y.object_meta() = {};
  return DeepEqual(x.type(), x.data(), y.data());
}

// An aggregation rule collects rules from roles of other users, so setting one could grant any
// permission.
bool Aggregates(const Object& object) {
  const auto* role = object.As<ClusterRole>();
  return role != nullptr && role->aggregationRule;
}

List<PolicyRule> FullAuthority() { return AlwaysAllow().Rules({}, "").rules; }

const RoleRef& RoleRefOf(const Object& binding) {
  return binding.As<RoleBinding>() != nullptr ? binding.As<RoleBinding>()->roleRef
                                              : binding.As<ClusterRoleBinding>()->roleRef;
}

// Changes of owner references and finalizers, as during deletion, grant nothing.
bool GrantsTheSame(const Object& a, const Object& b) {
  auto bare = [](Object object) {
    meta::v1::ObjectMeta kept;
    kept.labels = std::move(object.object_meta()->labels);
    kept.annotations = std::move(object.object_meta()->annotations);
    *object.object_meta() = std::move(kept);
    return object;
  };
  const Object x = bare(a), y = bare(b);
  return DeepEqual(x.type(), x.data(), y.data());
}

}  // namespace

void RbacGuard::Install() {
  for (const KindInfo* kind :
       {&Role::kKind, &ClusterRole::kKind, &RoleBinding::kKind, &ClusterRoleBinding::kKind}) {
    registry_.Hub(*kind).store().set_hooks(this);
  }
}

Result<std::unique_ptr<WriteTransaction>> RbacGuard::BeforeCreate(const WriteContext& w,
                                                                  Object& object) {
  COX_RETURN_IF_ERROR(Check(w, object, nullptr));
  return std::unique_ptr<WriteTransaction>();
}

Result<std::unique_ptr<WriteTransaction>> RbacGuard::BeforeUpdate(const WriteContext& w,
                                                                  Object& object,
                                                                  const Object& old) {
  COX_RETURN_IF_ERROR(Check(w, object, &old));
  return std::unique_ptr<WriteTransaction>();
}

bool RbacGuard::May(const UserInfo& user, std::string_view verb, std::string_view resource,
                    const std::string& ns, const std::string& name) const {
  RequestInfo ask;
  ask.is_resource = true;
  ask.verb = verb;
  ask.group = kGroup;
  ask.version = "v1";
  ask.resource = resource;
  ask.namespace_ = ns;
  ask.name = name;
  return authorizer_.Authorize(user, ask).allowed;
}

std::string RbacGuard::Escalation(const UserInfo& user, std::string_view ns,
                                  const List<PolicyRule>& wanted) const {
  const UserRules held = rules_.Rules(user, ns);
  List<PolicyRule> missing = CompactRules(MissingRules(held.rules, wanted));
  if (missing.empty()) return {};
  std::set<std::string> texts;
  for (const PolicyRule& rule : missing) texts.insert(RuleText(rule));
  std::string message = "user " + Quote(user.name) + " (groups=[";
  for (size_t i = 0; i < user.groups.size(); ++i) {
    message += (i > 0 ? " " : "") + Quote(user.groups[i]);
  }
  message += "]) is attempting to grant RBAC permissions not currently held:";
  for (const std::string& text : texts) message += "\n" + text;
  if (!held.error.empty()) message += "; resolution errors: [" + held.error + "]";
  return message;
}

Status RbacGuard::Check(const WriteContext& w, const Object& object, const Object* old) const {
  if (w.user.InGroup(kMastersGroup)) return {};
  const bool role = object.As<Role>() != nullptr || object.As<ClusterRole>() != nullptr;
  return role ? CheckRole(w, object, old) : CheckBinding(w, object, old);
}

Status RbacGuard::CheckRole(const WriteContext& w, const Object& object, const Object* old) const {
  const meta::v1::ObjectMeta& meta = *object.object_meta();
  const std::string_view resource = object.As<Role>() != nullptr ? "roles" : "clusterroles";
  // On create, rules with resourceNames cannot match, so no name is passed.
  if (May(w.user, "escalate", resource, meta.namespace_, old == nullptr ? "" : meta.name))
    return {};
  if (old != nullptr && SameButMetadata(object, *old)) return {};
  std::string why = Escalation(w.user, meta.namespace_, RulesOf(object));
  if (why.empty() && Aggregates(object) &&
      !Escalation(w.user, meta.namespace_, FullAuthority()).empty()) {
    why = "must have cluster-admin privileges to use the aggregationRule";
  }
  if (why.empty()) return {};
  return ForbiddenError({kGroup, resource}, meta.name, why);
}

Status RbacGuard::CheckBinding(const WriteContext& w, const Object& object,
                               const Object* old) const {
  const meta::v1::ObjectMeta& meta = *object.object_meta();
  const std::string_view resource =
      object.As<RoleBinding>() != nullptr ? "rolebindings" : "clusterrolebindings";
  if (old != nullptr && GrantsTheSame(object, *old)) return {};
  const RoleRef& ref = RoleRefOf(object);
  const bool local = ref.kind == "Role";
  if (May(w.user, "bind", local ? "roles" : "clusterroles", meta.namespace_, ref.name)) return {};
  const ServedResource& roles = registry_.Hub(local ? Role::kKind : ClusterRole::kKind);
  Result<Object> role = roles.store().Get(w.ctx, local ? meta.namespace_ : "", ref.name);
  if (!role.ok()) {
    if (!role.status().Is(Reason::kNotFound)) return role.status();
    return NotFoundError({kGroup, resource}, ref.name);
  }
  const std::string why = Escalation(w.user, meta.namespace_, RulesOf(*role));
  if (why.empty()) return {};
  return ForbiddenError({kGroup, resource}, meta.name, why);
}

}  // namespace cox::apiserver
