// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/result.h"
#include "object/patch/precondition.h"
#include "object/type/value.h"

// JSON Merge Patch (RFC 7396): a partial document that is merged into another. Objects merge member
// by member, null removes a member, everything else replaces.
namespace cox::patch {

// Merges `patch` into `document`. Nulls in objects of the patch do not get into the result; nor do
// nulls of objects inside its arrays, unless the array replaces an object. [null] stays.
// Errors: BadRequest, with the API server's text, if the patch is not an object or the document is
//   null.
// Does not recurse, so the depth needs no stack.
Result<Value> ApplyMergePatch(Value document, const Value& patch);

// The patch from `original` to `modified`: ApplyMergePatch(original, patch) == modified, unless
// `modified` contains nulls, which a merge patch cannot express. A null document counts as {}.
// Errors: BadRequest for documents that are not objects or deeper than limits::kMaxTypedDepth.
Result<Value> CreateMergePatch(const Value& original, const Value& modified);

// The patch of `kubectl apply` for a kind without strategic merge: the changes from `current`
// (live) to `modified` (the new configuration), plus the removal of members that were in `original`
// (the last applied configuration) and are no longer in `modified`. Other members of `current`
// stay.
// Errors: as CreateMergePatch; Invalid if a precondition fails.
Result<Value> CreateThreeWayMergePatch(const Value& original, const Value& modified,
                                       const Value& current,
                                       std::span<const Precondition> preconditions = {});

}  // namespace cox::patch
