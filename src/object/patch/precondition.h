// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "object/type/value.h"

// Conditions on patches. Code that creates a patch (kubectl apply) uses them to reject patches that
// would change an object's identity.
namespace cox::patch {

// True if the patch is acceptable.
using Precondition = std::function<bool(const Value& patch)>;

// The patch does not change the member `key` of the object, or of its metadata.
Precondition RequireKeyUnchanged(std::string key);
Precondition RequireMetadataKeyUnchanged(std::string key);

// Errors: Invalid "precondition failed for: map[...]" if a precondition does not hold.
Status CheckPreconditions(const Value& patch, std::span<const Precondition> preconditions);

}  // namespace cox::patch
