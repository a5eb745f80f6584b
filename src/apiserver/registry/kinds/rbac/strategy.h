// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/rbac/v1.h"
#include "apiserver/registry/store/strategy.h"

// The kinds of rbac.authorization.k8s.io. Privilege escalation is not checked here: that needs the
// authorizer (apiserver/authz).
namespace cox::apiserver {

StrategyPtr NewRoleStrategy();
StrategyPtr NewClusterRoleStrategy();
StrategyPtr NewRoleBindingStrategy();
StrategyPtr NewClusterRoleBindingStrategy();

// Validates one rule at `path`. Namespaced rules cannot contain non-resource URLs.
FieldErrorList ValidatePolicyRule(const rbac::v1::PolicyRule& rule, bool namespaced,
                                  const FieldPath& path);

}  // namespace cox::apiserver
