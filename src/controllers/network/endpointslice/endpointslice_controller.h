// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/network/endpointslice/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Publishes the Pods of each Service as EndpointSlices, which proxies and DNS watch. Services
// without a selector are ignored: other components manage their slices.
Status AddEndpointSliceController(Manager& manager, const EndpointSliceOptions& options);

}  // namespace cox::controllers
