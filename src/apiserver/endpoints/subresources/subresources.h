// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "apiserver/endpoints/verbs/resource_handlers.h"

// Subresources whose handling differs from reading and writing the object, and resources that are
// created but not stored. The tables are in subresources.cc; each handler has its own file.
//
// Handlers either send a response and return OK, or return an error, which the caller sends.
namespace cox::apiserver {

using SubresourceHandler = Status (*)(ResourceHandlers&, Call&, const ServedResource&);
// Null if the subresource has no special handler.
SubresourceHandler FindSubresourceHandler(const RequestInfo& info);

using TransientHandler = Status (*)(ResourceHandlers&, Call&);
// Null if the request is not for such a resource.
TransientHandler FindTransient(const RequestInfo& info);

Status HandleScale(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleBinding(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleEviction(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleLog(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleExec(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleAttach(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandlePortForward(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
Status HandleProxy(ResourceHandlers& handlers, Call& call, const ServedResource& resource);

// Responds with a Status "Success" without details, as binding and eviction do.
void RespondSuccess(Call& call, int code, const Accepted& accepted);

}  // namespace cox::apiserver
