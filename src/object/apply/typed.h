// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "object/apply/field_set.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Values read through a Type: which fields they set, how two of them differ, how they merge.
//
// The rules are those of structured merge: members of structs and of granular maps are fields of
// their own, and so are the items of sets (told apart by value) and of map lists (by their keys,
// where a key that is left out counts as its default). Atomic lists, maps and structs are one
// field. Below what the Type does not know (Shape::kAny and the like) objects are granular and
// lists atomic.
//
// Errors: BadRequest with a text that names the path: `.spec.ports: duplicate entries for key
//   [port=80]`. What Validate accepts makes the other functions fail only by their depth limit.
// Limits: values nested deeper than limits::kMaxTypedDepth are refused.
// Threads: pure functions.
namespace cox::apply {

enum class Duplicates { kForbid, kAllow };

// Whether `value` has the shape of `type` and names list items apart. Objects that are stored may
// hold duplicate items from before their list got a type; what writers apply may not.
Status Validate(const Value& value, const Type& type, Duplicates duplicates = Duplicates::kForbid);

// The fields that `value` sets: what it would own after being applied.
Result<FieldSet> ToFieldSet(const Value& value, const Type& type);

// How two values differ.
struct Comparison {
  FieldSet added;
  FieldSet modified;
  FieldSet removed;

  bool Same() const { return added.Empty() && modified.Empty() && removed.Empty(); }
};
Result<Comparison> Compare(const Value& before, const Value& after, const Type& type);

// `base` with what `config` sets laid over it. Items of `config` keep their order among each other;
// those that only `base` has stay near their old neighbours.
Result<Value> Merge(const Value& base, const Value& config, const Type& type);

// `value` without the fields in `set`, or only with them (and the keys of the items that hold
// them). A list, map or struct that loses everything becomes null.
Result<Value> RemoveItems(Value value, const Type& type, const FieldSet& set);
Result<Value> ExtractItems(const Value& value, const Type& type, const FieldSet& set);

// `set` together with the declared struct fields on the way to its paths: {.a.b.c} also holds .a,
// and holds .a.b unless .a is a map.
FieldSet WithNamedFields(const FieldSet& set, const Type& type);

}  // namespace cox::apply
