// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authn/authentication.h"
#include "apiserver/registry/served/own_loop.h"

namespace cox::apiserver {

// Publishes how this server authenticates, for servers that extend the API and want to trust the
// same: ConfigMap extension-apiserver-authentication in kube-system.
//
// What other API servers of the cluster wrote there stays, but for certificates that have expired:
// while CAs are exchanged one server after the other, the sum is what is trusted. `authentication`
// outlives the loop.
OwnLoop ClusterTrustLoop(const Registry& registry, const Authentication& authentication);

}  // namespace cox::apiserver
