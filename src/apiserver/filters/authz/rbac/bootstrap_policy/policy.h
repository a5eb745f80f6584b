// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "api/rbac/v1.h"
#include "base/result.h"

// The roles and bindings every cluster begins with.
//
// They are written as text, a line per rule:
//
//   role system:kube-scheduler                    a ClusterRole; namespace/name: a Role
//     get,list,watch core:pods,nodes              verbs groups:resources ("core" is the group "")
//     get,update coordination.k8s.io:leases [kube-scheduler]          only objects of these names
//     get /healthz,/livez                         verbs paths
//   bind system:kube-scheduler role=NAME          role=: where the role has another name
//     user:system:kube-scheduler                  user:, group:, serviceaccount:namespace/name
//
// `role NAME part-of=view` is gathered into the role that is `sum-of=view`. A deeper line goes on
// with the line above.
namespace cox::apiserver {

// The annotation of what a newer server may add rules and subjects to, unless it says "false".
inline constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

struct RbacPolicy {
  List<rbac::v1::ClusterRole> cluster_roles;
  List<rbac::v1::ClusterRoleBinding> cluster_role_bindings;
  List<rbac::v1::Role> roles;
  List<rbac::v1::RoleBinding> role_bindings;
};

// Appends what `text` says. Errors: BadRequest that names the line.
Status ParsePolicy(std::string_view text, RbacPolicy* policy);

// The whole of it, with a binding for every controller.
RbacPolicy BootstrapPolicy();

// The texts it is made of.
std::string_view ClusterRolePolicy();
std::string_view ControllerRolePolicy();
std::string_view NamespaceRolePolicy();

}  // namespace cox::apiserver
