// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "apiserver/registry/registry.h"
#include "base/context.h"

namespace cox::apiserver {

struct BootstrapOptions {
  std::string service_cluster_ip_range;
  uint16_t port = 6443;
};

// Writes the objects every cluster has: namespaces, priority classes, the service of the API
// itself. What is there already stays as it is. Called at every start; idempotent.
Status WriteBootstrapObjects(Context& ctx, const Registry& registry,
                             const BootstrapOptions& options);

}  // namespace cox::apiserver
