// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/result.h"
#include "object/patch/precondition.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Strategic Merge Patch: a merge patch that depends on the type of the object. The tables of fields
// (Field::kPatchMerge, ..., Field::merge_key) define how they merge:
//
//   list, kPatchMerge        items with the same merge_key merge, others are added; scalars are
//                            added if they do not exist
//   list, otherwise          replaced
//   object, kPatchReplace    replaced
//   object, otherwise        merged member by member; null removes a member
//   kPatchRetainKeys         a created patch lists the members to keep
//
// and the patch may contain directives, members whose name begins with "$":
//
//   "$patch": "replace"               in an object: the rest of the object is the new value
//   "$patch": "delete"                in an object: its new value is {}
//                                     in a list item: removes the item with that merge key
//   {"$patch": "replace"}             as a list item: the other items are the new list
//   "$retainKeys": [...]              in an object: members not listed are removed
//   "$deleteFromPrimitiveList/x": []  removes these scalars from the list x
//   "$setElementOrder/x": []          the order of the items of list x
//
// Order of a merged list: items of the patch have the order of the patch (or of the order
// directive); other items keep their order, each before the patch's item that followed it.
//
// Unknown fields: unknown scalars, and new unknown members of any kind, are stored (decoding drops
// them). Merging an unknown object or list with an existing one is an error, as it is within fields
// that are maps of objects. Below a field of type kAny, and for unknown fields of a type that
// preserves them, objects merge as in a JSON merge patch and lists are replaced.
//
// Errors: those of the API server. BadRequest for malformed directives and for patches deeper than
//   limits::kMaxTypedDepth; Invalid for lists of lists; all others have no reason (code 500), as
//   "map: map[image:x] does not contain declared merge key: name".
// Cost: n log n in list items. Threads: pure functions.
namespace cox::patch {

// Merges `patch` into `original`; both are JSON objects. A null patch changes nothing.
Result<Value> ApplyStrategicPatch(Value original, const Value& patch, const Type& type);

// The patch from `original` to `modified`, with order directives for merged lists. As in kubectl, a
// list of scalars that was only sorted counts as unchanged.
Result<Value> CreateTwoWayStrategicPatch(const Value& original, const Value& modified,
                                         const Type& type,
                                         std::span<const Precondition> preconditions = {});

struct ThreeWayOptions {
  // If false, members that both sides changed differently since `original` are a Conflict.
  bool overwrite = true;
  std::span<const Precondition> preconditions = {};
};

// The patch of `kubectl apply`: the changes from `current` (live) to `modified` (the new
// configuration), and the removal of members that are in `original` (the last applied
// configuration) but not in `modified`. Members that only `current` has stay. Null documents count
// as {}.
Result<Value> CreateThreeWayStrategicPatch(const Value& original, const Value& modified,
                                           const Value& current, const Type& type,
                                           const ThreeWayOptions& options = {});

}  // namespace cox::patch
