// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authn/authentication.h"
#include "apiserver/registry/served/internal_controller.h"

namespace cox::apiserver {

// Publishes the authentication settings of this server in the ConfigMap
// extension-apiserver-authentication in kube-system, for extension API servers.
//
// Data of other API servers of the cluster stays, except for expired certificates: while CAs are
// rotated on one server after another, the union is trusted. `authentication` must outlive the
// controller.
InternalController ClusterTrustLoop(const Registry& registry, const Authentication& authentication);

}  // namespace cox::apiserver
