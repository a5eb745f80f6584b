// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/result.h"
#include "object/patch/precondition.h"
#include "object/type/value.h"

// JSON Merge Patch (RFC 7396): a partial document laid over another. Objects merge member by
// member, null removes a member, everything else replaces.
namespace cox::patch {

// `document` with `patch` laid over it. Nulls in objects of the patch do not get into the result;
// those in objects inside its arrays neither, unless the array replaces an object. [null] stays.
// Errors: BadRequest when the patch is no object or the document is null, as the API server says
// it. Depth costs no stack.
Result<Value> ApplyMergePatch(Value document, const Value& patch);

// The patch that turns `original` into `modified`: ApplyMergePatch(original, patch) == modified,
// unless `modified` holds nulls, which a merge patch cannot express. A null document counts as {}.
// Errors: BadRequest for documents that are no objects or deeper than limits::kMaxTypedDepth.
Result<Value> CreateMergePatch(const Value& original, const Value& modified);

// What `kubectl apply` sends for a kind without strategic merge: what changed between `current`
// (live) and `modified` (now wanted), plus the removal of what was in `original` (wanted last time)
// and is no longer in `modified`. Members of `current` that neither mentions stay. Errors: as
// CreateMergePatch; Invalid when a precondition fails.
Result<Value> CreateThreeWayMergePatch(const Value& original, const Value& modified,
                                       const Value& current,
                                       std::span<const Precondition> preconditions = {});

}  // namespace cox::patch
