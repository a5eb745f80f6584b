// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/rbac/v1.h"
#include "apiserver/registry/store/strategy.h"

// The kinds of rbac.authorization.k8s.io. Whether a client may grant what it writes is not decided
// here: that needs the authorizer (apiserver/authz).
namespace cox::apiserver {

StrategyPtr NewRoleStrategy();
StrategyPtr NewClusterRoleStrategy();
StrategyPtr NewRoleBindingStrategy();
StrategyPtr NewClusterRoleBindingStrategy();

// One rule at `path`. Rules of a namespace cannot speak of URLs that are no resources.
FieldErrorList ValidatePolicyRule(const rbac::v1::PolicyRule& rule, bool namespaced,
                                  const FieldPath& path);

}  // namespace cox::apiserver
