// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "object/apply/field_set.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Operations on Values with a Type: their fields, comparison and merge.
//
// The rules are those of structured merge: members of structs and of granular maps are separate
// fields, and so are the items of sets (identified by value) and of map lists (identified by their
// keys, where a missing key counts as its default). Atomic lists, maps and structs are one field.
// If the Type is unspecified (Shape::kAny and similar), objects are granular and lists atomic.
//
// Errors: BadRequest with a text that contains the path: `.spec.ports: duplicate entries for key
//   [port=80]`. For values that Validate accepts, the other functions fail only because of the
//   depth limit.
// Limits: values nested deeper than limits::kMaxTypedDepth are rejected.
// Threads: pure functions.
namespace cox::apply {

enum class Duplicates { kForbid, kAllow };

// Whether `value` matches `type` and its list items are unique. Stored objects may contain
// duplicate items from before their list got a type; applied configurations may not.
Status Validate(const Value& value, const Type& type, Duplicates duplicates = Duplicates::kForbid);

// The fields that `value` sets, which its manager owns after an apply.
Result<FieldSet> ToFieldSet(const Value& value, const Type& type);

// The difference of two values.
struct Comparison {
  FieldSet added;
  FieldSet modified;
  FieldSet removed;

  bool Same() const { return added.Empty() && modified.Empty() && removed.Empty(); }
};
Result<Comparison> Compare(const Value& before, const Value& after, const Type& type);

// Merges `config` into `base`. Items of `config` keep their relative order; items that only `base`
// has stay near their old neighbors.
Result<Value> Merge(const Value& base, const Value& config, const Type& type);

// `value` without the fields in `set`, or with only these fields (and the keys of the items that
// contain them). A list, map or struct that becomes empty is replaced by null.
Result<Value> RemoveItems(Value value, const Type& type, const FieldSet& set);
Result<Value> ExtractItems(const Value& value, const Type& type, const FieldSet& set);

// `set` with the declared struct fields on its paths: {.a.b.c} also gets .a, and .a.b unless .a is
// a map.
FieldSet WithNamedFields(const FieldSet& set, const Type& type);

}  // namespace cox::apply
