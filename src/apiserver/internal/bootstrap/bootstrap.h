// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "apiserver/registry/served/registry.h"
#include "base/context.h"

namespace cox::apiserver {

class AdmissionChain;

struct BootstrapOptions {
  std::string service_cluster_ip_range;       // the first, if there are two
  uint16_t port = 6443;                       // the port that this server listens on
  const AdmissionChain* admission = nullptr;  // for the writes; null: no admission
};

// Writes the objects of every cluster: namespaces, priority classes, roles and bindings, flow
// control objects and the Service of the API. Existing objects stay unchanged, except that a newer
// release may add to roles and update the defaults of flow control. Called at every start;
// idempotent, even if other servers do the same concurrently.
Status WriteBootstrapObjects(Context& ctx, const Registry& registry,
                             const BootstrapOptions& options);

}  // namespace cox::apiserver
