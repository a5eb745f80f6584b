// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/request/call.h"

namespace cox::apiserver {

// Handles a request on a resource or on one of its subresources: dispatches it by verb, and
// responds 404 or 405 if the resource does not support the verb. May block.
void HandleResource(ResourceHandlers& handlers, const std::shared_ptr<Call>& call);

}  // namespace cox::apiserver
