// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/rbac/v1.h"
#include "apiserver/request/user.h"
#include "base/string_hash.h"

// An index of roles and bindings that finds the rules of a user in a namespace.
namespace cox::apiserver {

// The relevant fields of a RoleBinding or ClusterRoleBinding.
struct RbacBinding {
  std::string ns;  // empty: a ClusterRoleBinding
  std::string name;
  rbac::v1::RoleRef role;
  std::string role_key;  // made by RbacRoleKey
  List<rbac::v1::Subject> subjects;
};
// "namespace/name" for Roles, "/name" for ClusterRoles.
std::string RbacRoleKey(std::string_view ns, std::string_view name);

using RbacBindingPtr = std::shared_ptr<const RbacBinding>;
using RbacRules = List<rbac::v1::PolicyRule>;
using RbacRulesPtr = std::shared_ptr<const RbacRules>;

// A snapshot of all roles and bindings.
//
// Indexed by subject, then by namespace: the cost of a decision depends on the bindings of the user
// and its groups in that namespace, not on those of the cluster.
// Threads: Immutable.
class RbacIndex {
 public:
  // One subject of one binding.
  struct Grant {
    RbacBindingPtr binding;
    uint32_t subject = 0;
  };
  // Visits the user's cluster-wide grants, then those in `ns` (if not empty), until `visit` returns
  // false. `rules` is null if the role does not exist.
  using Visit = std::function<bool(const Grant& grant, const RbacRules* rules)>;
  void VisitGrants(const UserInfo& user, std::string_view ns, const Visit& visit) const;

 private:
  friend class RbacIndexBuilder;
  template <class T>
  using TextMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

  struct Grants {
    std::map<std::string, std::vector<Grant>, std::less<>> by_namespace;  // "": cluster-wide
  };
  using Subjects = TextMap<std::shared_ptr<const Grants>>;
  using Roles = TextMap<RbacRulesPtr>;

  // Snapshots share shards; a change copies only the affected shards.
  static constexpr size_t kShards = 256;
  static size_t ShardOf(std::string_view key) { return StringHash()(key) % kShards; }

  bool VisitIn(const Grants& grants, std::string_view ns, const Visit& visit) const;

  std::array<std::shared_ptr<const Subjects>, kShards> users_;
  std::array<std::shared_ptr<const Subjects>, kShards> groups_;
  std::array<std::shared_ptr<const Roles>, kShards> roles_;
};
using RbacIndexPtr = std::shared_ptr<const RbacIndex>;

// Builds successive snapshots of the index.
//
// Threads: One at a time.
class RbacIndexBuilder {
 public:
  RbacIndexBuilder();

  // A null pointer removes the entry. Role keys are made by RbacRoleKey; binding keys are
  // arbitrary, but unique.
  void SetRole(const std::string& key, RbacRulesPtr rules);
  void SetBinding(const std::string& key, RbacBindingPtr binding);

  // The current snapshot.
  RbacIndexPtr Build();

 private:
  using Subjects = RbacIndex::Subjects;

  // The location of a subject's grants.
  struct Place {
    Subjects* subjects;  // null: an unknown kind of subject
    std::string key;
  };
  Place PlaceOf(const RbacBinding& binding, const rbac::v1::Subject& subject);
  RbacIndex::Grants& GrantsAt(const Place& place);
  void AddGrants(const RbacBindingPtr& binding);
  void RemoveGrants(const RbacBindingPtr& binding);

  RbacIndex next_;
  // The shards of next_ that are not shared with a snapshot.
  std::bitset<RbacIndex::kShards> own_users_, own_groups_, own_roles_;
  // The same for the grants of single subjects.
  std::unordered_set<const RbacIndex::Grants*> own_grants_;
  std::unordered_map<std::string, RbacBindingPtr> bindings_;
};

}  // namespace cox::apiserver
