// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "object/patch/strategic_meta.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Merging for strategic merge patch: objects (strategic_apply.cc), lists (strategic_lists.cc) and
// the order of list items (strategic_order.cc). Private to this folder.
namespace cox::patch::strategic {

// The kind of merge.
enum class Mode : uint8_t {
  kApply,    // a patch into a document: directives are executed and removed
  kCombine,  // a patch into a patch: directives about members, and nulls, stay in the result
};

// Merges `patch` into `original`. After an error `original` is in an unspecified state.
Status MergeObject(Value::Object& original, const Value::Object& patch, const Type& type,
                   Mode mode);

// Merges two lists of a field with merge strategy.
Result<Value::Array> MergeLists(Value::Array original, const Value::Array& patch,
                                const FieldMeta& field, Mode mode);
// `original` without the scalars of `deleted`.
Result<Value::Array> RemoveScalars(Value::Array original, const Value::Array& deleted,
                                   const FieldMeta& field, Mode mode);

// The identities of a list's items; for objects those of their merge keys. If `merge_key` is empty,
// the items are scalars.
Result<std::vector<std::string>> Identities(const Value::Array& items, std::string_view merge_key);

// Sorts `items`: items in `mentioned` have its order, the others the order of `server` (of
// duplicate entries in these lists, the first one counts). When the two sequences are merged, an
// unmentioned item precedes a mentioned one only if `server` contains both in this order:
//   items abcd, mentioned db, server abcd  ->  acdb
// REQUIRES: identities[i] belongs to items[i].
Value::Array Arrange(Value::Array items, const std::vector<std::string>& identities,
                     const std::vector<std::string>& mentioned,
                     const std::vector<std::string>& server);

// Checks that the patch's items, except those with "$patch", are in the order of the directive.
Status CheckOrder(const Value::Array& patch, const Value::Array& order, std::string_view merge_key);

}  // namespace cox::patch::strategic
