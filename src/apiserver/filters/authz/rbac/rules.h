// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/rbac/v1.h"
#include "apiserver/request/request_info.h"

// The semantics of RBAC rules. Pure functions.
namespace cox::apiserver {

using rbac::v1::PolicyRule;

// Whether the rule allows the request.
//
//   verbs, apiGroups    by name, or "*"
//   resources           "pods", "pods/log", "*" (all, with subresources), "*/scale"
//   resourceNames       empty: all. A request without a name (list, create) matches no name.
//   nonResourceURLs     the path, "*", or a prefix that ends with "*"
bool RuleAllows(const PolicyRule& rule, const RequestInfo& request);

// The parts of `wanted` that `held` does not contain, each with one group, resource, verb and name.
// Empty: a user with `held` may grant `wanted`.
List<PolicyRule> MissingRules(std::span<const PolicyRule> held, std::span<const PolicyRule> wanted);

// Merges rules that differ only in their verbs.
List<PolicyRule> CompactRules(List<PolicyRule> rules);

// {APIGroups:[""], Resources:["pods"], Verbs:["get"]}
std::string RuleText(const PolicyRule& rule);

}  // namespace cox::apiserver
