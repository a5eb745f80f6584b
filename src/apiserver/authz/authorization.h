// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/authz/authorization_options.h"
#include "apiserver/authz/authorizer.h"
#include "apiserver/authz/node/node_authorizer.h"
#include "apiserver/authz/rbac/rbac_authorizer.h"
#include "apiserver/registry/registry.h"
#include "base/scope.h"

namespace cox::apiserver {

// Who decides in this server: the authorizers of the configuration in their order, and what keeps
// them up to date.
//
// Threads: all methods may be called concurrently, Start once.
class Authorization final : public Authorizer {
 public:
  // BadRequest for options that make no sense.
  static Result<std::unique_ptr<Authorization>> Create(AuthorizationOptions options);

  bool MayBlock() const override { return union_.MayBlock(); }
  Decision Authorize(const UserInfo& user, const RequestInfo& request) const override {
    return union_.Authorize(user, request);
  }
  UserRules Rules(const UserInfo& user, std::string_view ns) const override {
    return union_.Rules(user, ns);
  }
  // What roles say alone.
  const RbacAuthorizer& rbac() const { return rbac_; }

  // Begins to follow the objects that the authorizers look at, in `scope`. `registry` outlives it.
  Status Start(Scope& scope, const Registry& registry);

 private:
  explicit Authorization(AuthorizationOptions options);
  bool Has(std::string_view mode) const;

  const AuthorizationOptions options_;
  NodeGraph node_graph_;
  const NodeAuthorizer node_;
  RbacAuthorizer rbac_;
  const UnionAuthorizer union_;
};

}  // namespace cox::apiserver
