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

// Roles and bindings, arranged for one question: which rules hold for this user here.
namespace cox::apiserver {

// A RoleBinding or ClusterRoleBinding without what does not matter.
struct RbacBinding {
  std::string ns;  // empty: a ClusterRoleBinding
  std::string name;
  rbac::v1::RoleRef role;
  std::string role_key;  // as RbacRoleKey makes it
  List<rbac::v1::Subject> subjects;
};
// "namespace/name", and "/name" for ClusterRoles.
std::string RbacRoleKey(std::string_view ns, std::string_view name);

using RbacBindingPtr = std::shared_ptr<const RbacBinding>;
using RbacRules = List<rbac::v1::PolicyRule>;
using RbacRulesPtr = std::shared_ptr<const RbacRules>;

// One state of all roles and bindings.
//
// By subject, then by namespace: the cost of a decision grows with the bindings of its user and
// groups in its namespace, not with those of the cluster.
// Threads: immutable.
class RbacIndex {
 public:
  // One subject of one binding.
  struct Grant {
    RbacBindingPtr binding;
    uint32_t subject = 0;
  };
  // Visits what is granted to the user in the whole cluster, then in `ns` (empty: not at all),
  // until `visit` returns false. Rules are null where the role is not there.
  using Visit = std::function<bool(const Grant& grant, const RbacRules* rules)>;
  void VisitGrants(const UserInfo& user, std::string_view ns, const Visit& visit) const;

 private:
  friend class RbacIndexBuilder;
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <class T>
  using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

  struct Grants {
    std::map<std::string, std::vector<Grant>, std::less<>> by_namespace;  // "": cluster-wide
  };
  using Subjects = TextMap<std::shared_ptr<const Grants>>;
  using Roles = TextMap<RbacRulesPtr>;

  // Shards are shared by successive states; a change copies only those it touches.
  static constexpr size_t kShards = 256;
  static size_t ShardOf(std::string_view key) { return TextHash()(key) % kShards; }

  bool VisitIn(const Grants& grants, std::string_view ns, const Visit& visit) const;

  std::array<std::shared_ptr<const Subjects>, kShards> users_;
  std::array<std::shared_ptr<const Subjects>, kShards> groups_;
  std::array<std::shared_ptr<const Roles>, kShards> roles_;
};
using RbacIndexPtr = std::shared_ptr<const RbacIndex>;

// Brings an index from one state to the next.
// Threads: one at a time.
class RbacIndexBuilder {
 public:
  RbacIndexBuilder();

  // A null pointer removes. Keys of roles are as RbacRoleKey makes them; those of bindings any that
  // differ.
  void SetRole(const std::string& key, RbacRulesPtr rules);
  void SetBinding(const std::string& key, RbacBindingPtr binding);

  // The state now.
  RbacIndexPtr Build();

 private:
  using Subjects = RbacIndex::Subjects;

  // Where the grants of a subject stand.
  struct Place {
    Subjects* subjects;  // null: a kind of subject that does not exist
    std::string key;
  };
  Place PlaceOf(const RbacBinding& binding, const rbac::v1::Subject& subject);
  RbacIndex::Grants& GrantsAt(const Place& place);
  void AddGrants(const RbacBindingPtr& binding);
  void RemoveGrants(const RbacBindingPtr& binding);

  RbacIndex next_;
  // Which shards of next_ are not part of a state that was given out.
  std::bitset<RbacIndex::kShards> own_users_, own_groups_, own_roles_;
  // Likewise the grants of single subjects.
  std::unordered_set<const RbacIndex::Grants*> own_grants_;
  std::unordered_map<std::string, RbacBindingPtr> bindings_;
};

}  // namespace cox::apiserver
