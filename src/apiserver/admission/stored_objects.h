// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "apiserver/registry/store/store.h"
#include "base/context.h"

namespace cox::apiserver {

// Gets an object from the cache, or from storage if the cache does not contain it: an object that
// was just created may not be in the cache yet. Errors: NotFound if it is in neither.
Result<Object> FindObject(Context& ctx, const ResourceStore& store, std::string_view ns,
                          std::string_view name);

// Visits the objects of `store` in `ns` (all namespaces if empty) in key order, until `visit`
// returns false. Reads the current state of the cache, or storage if there is no cache. Skips
// objects that cannot be decoded.
Status VisitObjects(Context& ctx, const ResourceStore& store, std::string_view ns,
                    const std::function<bool(const Object&)>& visit);

}  // namespace cox::apiserver
