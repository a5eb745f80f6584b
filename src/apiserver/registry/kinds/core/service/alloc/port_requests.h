// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/service/alloc/port_bitmap.h"
#include "base/result.h"

// The node ports that a Service allocates and releases, computed from the current bitmap. Pure.
namespace cox::apiserver {

struct PortChanges {
  std::vector<int32_t> taken;
  std::vector<int32_t> released;  // after the update is stored
};

// Allocates the ports of a new service in `ports` and sets them in the service. Ports of the
// service that differ only in protocol share a node port.
// Errors: Invalid if a port cannot be allocated, Internal if no port is left. `ports` and `service`
//   must be discarded then.
Result<PortChanges> TakePortsForCreate(core::v1::Service& service, PortBitmap& ports,
                                       const Random& random);
// The same for an update: node ports that both the old and the new service have do not change.
Result<PortChanges> TakePortsForUpdate(core::v1::Service& service, const core::v1::Service& old,
                                       PortBitmap& ports, const Random& random);

// All node ports of a service, including the health check port, each once.
std::vector<int32_t> PortsOf(const core::v1::Service& service);

}  // namespace cox::apiserver
