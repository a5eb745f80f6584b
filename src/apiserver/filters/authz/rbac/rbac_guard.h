// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/registry/served/registry.h"

namespace cox::apiserver {

// Prevents privilege escalation: a user who writes a role must hold its permissions or the verb
// `escalate`; a user who writes a binding must hold the role's permissions or the verb `bind` on
// the role.
//
// Threads: All methods may be called concurrently; they may block for storage.
class RbacGuard final : public WriteHooks {
 public:
  // `authorizer` decides on escalate and bind; `rules` returns a user's permissions. All must
  // outlive it.
  RbacGuard(const Registry& registry, const Authorizer& authorizer, const Authorizer& rules)
      : registry_(registry), authorizer_(authorizer), rules_(rules) {}
  // Installs the hooks for roles and bindings.
  void Install();

  Result<std::unique_ptr<WriteTransaction>> BeforeCreate(const WriteContext& w,
                                                         Object& object) override;
  Result<std::unique_ptr<WriteTransaction>> BeforeUpdate(const WriteContext& w, Object& object,
                                                         const Object& old) override;
  void AfterDelete(const WriteContext&, const Object&) override {}

 private:
  Status Check(const WriteContext& w, const Object& object, const Object* old) const;
  Status CheckRole(const WriteContext& w, const Object& object, const Object* old) const;
  Status CheckBinding(const WriteContext& w, const Object& object, const Object* old) const;
  bool May(const UserInfo& user, std::string_view verb, std::string_view resource,
           const std::string& ns, const std::string& name) const;
  // Empty if the user holds all of `wanted` in `ns`; otherwise upstream's error text.
  std::string Escalation(const UserInfo& user, std::string_view ns,
                         const List<rbac::v1::PolicyRule>& wanted) const;

  const Registry& registry_;
  const Authorizer& authorizer_;
  const Authorizer& rules_;
};

}  // namespace cox::apiserver
