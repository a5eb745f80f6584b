// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "controllers/identity/rootca/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Keeps a ConfigMap kube-root-ca.crt with the cluster's CA (options.root_ca_pem) in every namespace
// that is not being deleted, and restores it after changes. Pods verify the API server with it.
// Without a CA, the controller is not registered.
Status AddRootCaPublisher(Manager& manager, const RootCaOptions& options);

}  // namespace cox::controllers
