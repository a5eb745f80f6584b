// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/request/call.h"

namespace cox::apiserver {

// Answers a request on a resource or on one of its subresources: selects the verb, and answers 404
// or 405 if the resource does not have it. May block.
void HandleResource(ResourceHandlers& handlers, const std::shared_ptr<Call>& call);

}  // namespace cox::apiserver
