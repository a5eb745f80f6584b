// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "apiserver/handlers/resource_handlers.h"

// Subresources that are more than the object written in another way. The table is in
// subresources.cc; one file each.
namespace cox::apiserver {

// Answers the call if its subresource is one of these. False, and nothing done, for the others.
bool HandleSubresource(ResourceHandlers& handlers, Call& call, const ServedResource& resource);

// The same for resources that are not stored: bindings.
bool HandleTransient(ResourceHandlers& handlers, Call& call);

// What every request on a kind is told, if it is going away.
std::span<const std::string_view> DeprecationWarnings(const KindInfo& kind);

void HandleScale(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
void HandleBinding(ResourceHandlers& handlers, Call& call, const ServedResource& resource);
void HandleEviction(ResourceHandlers& handlers, Call& call, const ServedResource& resource);

void HandleConnect(ResourceHandlers& handlers, Call& call, const ServedResource& resource);

// "Success", without details: what binding and eviction answer.
void RespondSuccess(Call& call, int code, const Accepted& accepted);

}  // namespace cox::apiserver
