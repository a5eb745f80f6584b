// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/result.h"
#include "object/patch/precondition.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Strategic Merge Patch: a merge patch that knows the type it patches. Fields say in their tables
// (Field::kPatchMerge, ..., Field::merge_key) how they merge:
//
//   list, kPatchMerge        items with the same merge_key merge, others are added; scalars are
//   added
//                            unless they are there
//   list, otherwise          replaced
//   object, kPatchReplace    replaced
//   object, otherwise        merged member by member; null removes a member
//   kPatchRetainKeys         a patch made for it lists the members to keep
//
// and the patch may hold directives, members whose name begins with "$":
//
//   "$patch": "replace"               in an object: the rest of the object is the new value
//   "$patch": "delete"                in an object: its new value is {}
//                                     in a list item: removes the item with that merge key
//   {"$patch": "replace"}             as a list item: the other items are the new list
//   "$retainKeys": [...]              in an object: members not listed are removed
//   "$deleteFromPrimitiveList/x": []  removes these scalars from the list x
//   "$setElementOrder/x": []          the order of the items of list x
//
// Order of a merged list: items the patch mentions come in the patch's order (or the order
// directive's); items it does not mention keep their order, each before the mentioned item that
// stood after it.
//
// What the type does not know: unknown members of scalars, and new ones of any kind, are stored
// (decoding drops them); merging an unknown object or list with one that is there is an error, as
// it is within fields that are maps of objects. Below a field of type kAny, and for unknown fields
// of a type that preserves them, objects merge as in a JSON merge patch and lists are replaced.
//
// Errors are those of the API server: BadRequest for malformed directives and for patches deeper
// than limits::kMaxTypedDepth; Invalid for lists of lists; all else has no reason (code 500), as
// "map: map[image:x] does not contain declared merge key: name".
// Cost: n log n in list items. Threads: pure functions.
namespace cox::patch {

// `original` with `patch`, both JSON objects, merged into it. A null patch changes nothing.
Result<Value> ApplyStrategicPatch(Value original, const Value& patch, const Type& type);

// The patch that turns `original` into `modified`, with order directives for lists that merge.
// Quirk kept from kubectl: a list of scalars that only got sorted counts as unchanged.
Result<Value> CreateTwoWayStrategicPatch(const Value& original, const Value& modified,
                                         const Type& type,
                                         std::span<const Precondition> preconditions = {});

struct ThreeWayOptions {
  // Without it, what both sides changed since `original`, differently, is a Conflict.
  bool overwrite = true;
  std::span<const Precondition> preconditions = {};
};

// What `kubectl apply` sends: the changes that bring `current` (live) to `modified` (now wanted),
// and the removal of what is in `original` (wanted last time) but no longer in `modified`. What
// only `current` has stays. Null documents count as {}.
Result<Value> CreateThreeWayStrategicPatch(const Value& original, const Value& modified,
                                           const Value& current, const Type& type,
                                           const ThreeWayOptions& options = {});

}  // namespace cox::patch
