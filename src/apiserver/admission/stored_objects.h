// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "apiserver/registry/store/store.h"
#include "base/context.h"

namespace cox::apiserver {

// One object as the cache has it, or as storage does where the cache lacks it: one that was created
// just now may not be there yet. NotFound if it is in neither.
Result<Object> FindObject(Context& ctx, const ResourceStore& store, std::string_view ns,
                          std::string_view name);

// Visits the objects of `store` in `ns` (everywhere if empty) by key, until `visit` returns false:
// from the cache as it is now, or from storage where there is no cache. One that cannot be decoded
// is left out.
Status VisitObjects(Context& ctx, const ResourceStore& store, std::string_view ns,
                    const std::function<bool(const Object&)>& visit);

}  // namespace cox::apiserver
