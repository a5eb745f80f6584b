// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/filters/authz/rbac/index.h"
#include "base/published.h"

namespace cox::apiserver {

// Role based access control: the rules of the roles that are bound to a user, its groups or its
// service account.
//
// Reads an immutable index, which the RBAC feed replaces. Before the first index is published, only
// health and version paths are allowed, because the policy is unknown.
// Threads: All methods may be called concurrently.
class RbacAuthorizer final : public Authorizer {
 public:
  Decision Decide(const UserInfo& user, const RequestInfo& request,
                  const Selectors&) const override;
  // All rules, cluster-wide and in `ns`. Missing roles are reported as an error, with the other
  // rules.
  UserRules Rules(const UserInfo& user, std::string_view ns) const override;

  void Publish(RbacIndexPtr index) { index_.Store(std::move(index)); }
  bool ready() const { return index_.Load() != nullptr; }

 private:
  Published<const RbacIndex> index_;
};

}  // namespace cox::apiserver
