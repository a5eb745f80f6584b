// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "object/patch/strategic_meta.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Merging, the recursive half of strategic merge patch: objects (strategic_apply.cc), lists
// (strategic_lists.cc) and the order of list items (strategic_order.cc). Private to this folder.
namespace cox::patch::strategic {

// What is merged into what.
enum class Mode : uint8_t {
  kApply,    // a patch into a document: directives are obeyed and removed
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

// The identities of a list's items: of objects, of their merge keys.
// An empty `merge_key` says that the items are scalars.
Result<std::vector<std::string>> Identities(const Value::Array& items, std::string_view merge_key);

// Sorts `items`: those in `mentioned` come in its order, the others in the order of `server` (where
// both lists have repeated entries, the first counts). Of the heads of these two queues the
// unmentioned item goes first only if the server has both and has it first:
//   items abcd, mentioned db, server abcd  ->  acdb
// REQUIRES: identities[i] is that of items[i].
Value::Array Arrange(Value::Array items, const std::vector<std::string>& identities,
                     const std::vector<std::string>& mentioned,
                     const std::vector<std::string>& server);

// Whether the patch's items, apart from those with "$patch", come in the order of the directive.
Status CheckOrder(const Value::Array& patch, const Value::Array& order, std::string_view merge_key);

}  // namespace cox::patch::strategic
