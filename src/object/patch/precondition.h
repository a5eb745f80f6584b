// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "object/type/value.h"

// What a patch must not do. Whoever creates a patch for someone else (kubectl apply) passes these
// to refuse one that would change an object's identity.
namespace cox::patch {

// True if the patch is acceptable.
using Precondition = std::function<bool(const Value& patch)>;

// The patch leaves the member `key` of the object alone, or of its metadata.
Precondition RequireKeyUnchanged(std::string key);
Precondition RequireMetadataKeyUnchanged(std::string key);

// Invalid "precondition failed for: map[...]" if one does not hold.
Status CheckPreconditions(const Value& patch, std::span<const Precondition> preconditions);

}  // namespace cox::patch
