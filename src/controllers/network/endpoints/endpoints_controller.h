// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/network/endpoints/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Keeps the Endpoints object of each Service that has a selector, for clients that do not use
// EndpointSlices. The object is deleted with its Service.
Status AddEndpointsController(Manager& manager, const EndpointsOptions& options);

}  // namespace cox::controllers
