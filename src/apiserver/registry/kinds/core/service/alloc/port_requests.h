// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/service/alloc/port_bitmap.h"
#include "base/result.h"

// Which node ports a Service takes and gives back, decided on the ports that are free now. Pure.
namespace cox::apiserver {

struct PortChanges {
  std::vector<int32_t> taken;
  std::vector<int32_t> released;  // for when the update is stored
};

// Takes in `ports` what a new service needs and writes it into the service. Ports of the service
// that differ in protocol only share a node port.
// Errors: Invalid for a port that cannot be had, Internal when there is none left. `ports` and
// `service` are then to be thrown away.
Result<PortChanges> TakePortsForCreate(core::v1::Service& service, PortBitmap& ports,
                                       const Random& random);
// The same for a change: what the old service has and the new one too stays as it is.
Result<PortChanges> TakePortsForUpdate(core::v1::Service& service, const core::v1::Service& old,
                                       PortBitmap& ports, const Random& random);

// Every node port of a service, that for health checks too; each once.
std::vector<int32_t> PortsOf(const core::v1::Service& service);

}  // namespace cox::apiserver
