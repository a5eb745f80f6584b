// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/bootstrap_policy/policy.h"

namespace cox::apiserver {

// Namespaced roles.
constexpr std::string_view kNamespaceRoles = R"(
role kube-public/system:controller:bootstrap-signer
  get,list,watch core:configmaps
  update core:configmaps [cluster-info]
  create,patch,update core,events.k8s.io:events
role kube-system/extension-apiserver-authentication-reader
  get,list,watch core:configmaps [extension-apiserver-authentication]
role kube-system/system::leader-locking-kube-controller-manager
  create,get,list,update,watch coordination.k8s.io:leases
  create,get,list,update,watch coordination.k8s.io:leasecandidates
role kube-system/system::leader-locking-kube-scheduler
  create,get,list,update,watch coordination.k8s.io:leases
  create,get,list,update,watch coordination.k8s.io:leasecandidates
role kube-system/system:controller:bootstrap-signer
  get,list,watch core:secrets
role kube-system/system:controller:cloud-provider
  create,get,list,watch core:configmaps
role kube-system/system:controller:token-cleaner
  delete,get,list,watch core:secrets
  create,patch,update core,events.k8s.io:events
bind kube-public/system:controller:bootstrap-signer
  serviceaccount:kube-system/bootstrap-signer
bind kube-system/system::extension-apiserver-authentication-reader role=extension-apiserver-authentication-reader
  user:system:kube-controller-manager
  user:system:kube-scheduler
bind kube-system/system::leader-locking-kube-controller-manager
  user:system:kube-controller-manager
  serviceaccount:kube-system/kube-controller-manager
  serviceaccount:kube-system/leader-election-controller
bind kube-system/system::leader-locking-kube-scheduler
  user:system:kube-scheduler
  serviceaccount:kube-system/kube-scheduler
bind kube-system/system:controller:bootstrap-signer
  serviceaccount:kube-system/bootstrap-signer
bind kube-system/system:controller:cloud-provider
  serviceaccount:kube-system/cloud-provider
bind kube-system/system:controller:token-cleaner
  serviceaccount:kube-system/token-cleaner
)";

std::string_view NamespaceRolePolicy() { return kNamespaceRoles; }

}  // namespace cox::apiserver
