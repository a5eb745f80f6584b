// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "apiserver/registry/served/registry.h"
#include "base/context.h"

namespace cox::apiserver {

class AdmissionChain;

struct BootstrapOptions {
  std::string service_cluster_ip_range;       // the first, where there are two
  uint16_t port = 6443;                       // where this server listens
  const AdmissionChain* admission = nullptr;  // asked about what is written; null: nobody is
};

// Writes the objects every cluster has: namespaces, priority classes, roles and their bindings, how
// requests share a server, the service of the API itself. What is there already stays, but for what
// a newer release adds to roles and suggests for flow control. Called at every start; idempotent,
// also beside other servers that do the same.
Status WriteBootstrapObjects(Context& ctx, const Registry& registry,
                             const BootstrapOptions& options);

}  // namespace cox::apiserver
