// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/index.h"

#include <algorithm>

#include "apiserver/filters/authn/service_account/claims.h"

namespace cox::apiserver {
namespace {

// Returns a mutable shard: copies it first if a snapshot shares it.
template <class Map>
Map& Mutable(std::shared_ptr<const Map>& shard, std::bitset<256>::reference own) {
  if (!own) {
    shard = std::make_shared<Map>(*shard);
    own = true;
  }
  return const_cast<Map&>(*shard);  // not shared
}

}  // namespace

std::string RbacRoleKey(std::string_view ns, std::string_view name) {
  return std::string(ns).append("/").append(name);
}

bool RbacIndex::VisitIn(const Grants& grants, std::string_view ns, const Visit& visit) const {
  const auto at = grants.by_namespace.find(ns);
  if (at == grants.by_namespace.end()) return true;
  for (const Grant& grant : at->second) {
    const std::string& key = grant.binding->role_key;
    const Roles& roles = *roles_[ShardOf(key)];
    const auto rules = roles.find(key);
    if (!visit(grant, rules == roles.end() ? nullptr : rules->second.get())) return false;
  }
  return true;
}

void RbacIndex::VisitGrants(const UserInfo& user, std::string_view ns, const Visit& visit) const {
  std::vector<const Grants*> found;
  auto look = [&](const auto& shards, std::string_view key) {
    const Subjects& subjects = *shards[ShardOf(key)];
    if (const auto at = subjects.find(key); at != subjects.end()) found.push_back(at->second.get());
  };
  look(users_, user.name);
  for (const std::string& group : user.groups) look(groups_, group);
  for (const Grants* grants : found) {
    if (!VisitIn(*grants, "", visit)) return;
  }
  if (ns.empty()) return;
  for (const Grants* grants : found) {
    if (!VisitIn(*grants, ns, visit)) return;
  }
}

RbacIndexBuilder::RbacIndexBuilder() {
  const auto no_subjects = std::make_shared<const RbacIndex::Subjects>();
  const auto no_roles = std::make_shared<const RbacIndex::Roles>();
  next_.users_.fill(no_subjects);
  next_.groups_.fill(no_subjects);
  next_.roles_.fill(no_roles);
}

void RbacIndexBuilder::SetRole(const std::string& key, RbacRulesPtr rules) {
  const size_t shard = RbacIndex::ShardOf(key);
  RbacIndex::Roles& roles = Mutable(next_.roles_[shard], own_roles_[shard]);
  if (rules == nullptr) {
    roles.erase(key);
  } else {
    roles.insert_or_assign(key, std::move(rules));
  }
}

void RbacIndexBuilder::SetBinding(const std::string& key, RbacBindingPtr binding) {
  const auto old = bindings_.find(key);
  if (old != bindings_.end()) {
    RemoveGrants(old->second);
    bindings_.erase(old);
  }
  if (binding == nullptr) return;
  AddGrants(binding);
  bindings_.emplace(key, std::move(binding));
}

RbacIndexBuilder::Place RbacIndexBuilder::PlaceOf(const RbacBinding& binding,
                                                  const rbac::v1::Subject& subject) {
  std::string key = subject.name;
  const bool group = subject.kind == "Group";
  if (subject.kind == "ServiceAccount") {
    // Without a namespace, a subject of a RoleBinding is in the binding's namespace.
    key = ServiceAccountUser(subject.namespace_.empty() ? binding.ns : subject.namespace_, key);
  } else if (!group && subject.kind != "User") {
    return {nullptr, {}};
  }
  const size_t shard = RbacIndex::ShardOf(key);
  Subjects& subjects = group ? Mutable(next_.groups_[shard], own_groups_[shard])
                             : Mutable(next_.users_[shard], own_users_[shard]);
  return {&subjects, std::move(key)};
}

RbacIndex::Grants& RbacIndexBuilder::GrantsAt(const Place& place) {
  std::shared_ptr<const RbacIndex::Grants>& grants = (*place.subjects)[place.key];
  if (grants == nullptr || !own_grants_.contains(grants.get())) {
    grants = grants == nullptr ? std::make_shared<RbacIndex::Grants>()
                               : std::make_shared<RbacIndex::Grants>(*grants);
    own_grants_.insert(grants.get());
  }
  return const_cast<RbacIndex::Grants&>(*grants);  // not shared
}

void RbacIndexBuilder::AddGrants(const RbacBindingPtr& binding) {
  for (uint32_t i = 0; i < binding->subjects.size(); ++i) {
    const Place place = PlaceOf(*binding, binding->subjects[i]);
    if (place.subjects == nullptr) continue;
    GrantsAt(place).by_namespace[binding->ns].push_back({binding, i});
  }
}

void RbacIndexBuilder::RemoveGrants(const RbacBindingPtr& binding) {
  for (const rbac::v1::Subject& subject : binding->subjects) {
    const Place place = PlaceOf(*binding, subject);
    // A duplicate subject has already been removed.
    if (place.subjects == nullptr || !place.subjects->contains(place.key)) continue;
    RbacIndex::Grants& grants = GrantsAt(place);
    const auto at = grants.by_namespace.find(binding->ns);
    if (at != grants.by_namespace.end()) {
      std::erase_if(at->second, [&](const RbacIndex::Grant& g) { return g.binding == binding; });
      if (at->second.empty()) grants.by_namespace.erase(at);
    }
    if (grants.by_namespace.empty()) place.subjects->erase(place.key);
  }
}

RbacIndexPtr RbacIndexBuilder::Build() {
  own_users_.reset();
  own_groups_.reset();
  own_roles_.reset();
  own_grants_.clear();
  return std::make_shared<const RbacIndex>(next_);
}

}  // namespace cox::apiserver
