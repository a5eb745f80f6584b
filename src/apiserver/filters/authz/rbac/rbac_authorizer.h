// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/filters/authz/rbac/index.h"
#include "base/published.h"

namespace cox::apiserver {

// Role based access control: what the roles allow that a user, its groups or its service account
// are bound to.
//
// Reads one immutable index; whoever follows the roles and bindings publishes the next. Before the
// first is there only health and version may be looked at: what the policy says is not known yet.
// Threads: all methods may be called concurrently.
class RbacAuthorizer final : public Authorizer {
 public:
  Decision Decide(const UserInfo& user, const RequestInfo& request,
                  const Selectors&) const override;
  // All rules, cluster-wide and of `ns`. Roles that are missing make it an error, with the rest.
  UserRules Rules(const UserInfo& user, std::string_view ns) const override;

  void Publish(RbacIndexPtr index) { index_.Store(std::move(index)); }
  bool ready() const { return index_.Load() != nullptr; }

 private:
  Published<const RbacIndex> index_;
};

}  // namespace cox::apiserver
