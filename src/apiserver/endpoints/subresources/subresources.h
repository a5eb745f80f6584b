// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "apiserver/endpoints/verbs/resource_handlers.h"

// Subresources that are more than the object written in another way, and resources that are asked
// but not stored. The tables are in subresources.cc; one file each.
//
// Handlers either answer the call and return OK, or return why not and leave the answer to the
// caller.
namespace cox::apiserver {

using SubresourceHandler = Status (*)(ResourceHandlers&, Call&, const ServedResource&);
// Null for a subresource that needs none.
SubresourceHandler FindSubresourceHandler(const RequestInfo& info);

using TransientHandler = Status (*)(ResourceHandlers&, Call&);
// Null if the request is about no such resource.
TransientHandler FindTransient(const RequestInfo& info);

Status HandleScale(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleBinding(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleEviction(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleLog(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleExec(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleAttach(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandlePortForward(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleProxy(ResourceHandlers& handlers, Call& call, const ServedResource& resource);

// "Success", without details: what binding and eviction answer.
void RespondSuccess(Call& call, int code, const Accepted& accepted);

}  // namespace cox::apiserver
