// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "api/rbac/v1.h"
#include "base/result.h"

// The bootstrap roles and bindings of every cluster.
//
// They are written as text, a line per rule:
//
//   role system:kube-scheduler                    a ClusterRole; namespace/name: a Role
//     get,list,watch core:pods,nodes              verbs groups:resources ("core" is the group "")
//     get,update coordination.k8s.io:leases [kube-scheduler]          only objects of these names
//     get /healthz,/livez                         verbs paths
//   bind system:kube-scheduler role=NAME          role=: if the role has another name
//     user:system:kube-scheduler                  user:, group:, serviceaccount:namespace/name
//
// `role NAME part-of=view` is aggregated into the role with `sum-of=view`. A line with deeper
// indentation continues the line above.
namespace cox::apiserver {

// Unless this annotation is "false", a newer server may add rules and subjects to the object.
inline constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

struct RbacPolicy {
  List<rbac::v1::ClusterRole> cluster_roles;
  List<rbac::v1::ClusterRoleBinding> cluster_role_bindings;
  List<rbac::v1::Role> roles;
  List<rbac::v1::RoleBinding> role_bindings;
};

// Appends the objects of `text`. Errors: BadRequest with the line.
Status ParsePolicy(std::string_view text, RbacPolicy* policy);

// The complete policy, with a binding for every controller.
RbacPolicy BootstrapPolicy();

// The source texts.
std::string_view ClusterRolePolicy();
std::string_view ControllerRolePolicy();
std::string_view NamespaceRolePolicy();

}  // namespace cox::apiserver
