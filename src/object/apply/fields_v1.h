// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "object/apply/field_set.h"
#include "object/type/value.h"

// fieldsV1, the encoding of a FieldSet in metadata.managedFields:
//
//   {"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{}}},"f:finalizers":{"v:\"a\"":{}}}}
//
// Each member is a path element: `f:` a field, `k:` key fields, `v:` an item of a set, `i:` an
// index. An empty element, or one that contains `.`, ends a path of the set. Elements of other
// kinds are ignored, because later versions may add some.
namespace cox::apply {

// The same bytes as Kubernetes: compact, elements in the order of PathElement.
std::string WriteFieldsV1(const FieldSet& set);
// The same as a Value, whose members are sorted by name as in every Value.
Value FieldsV1ToValue(const FieldSet& set);

// Errors: BadRequest, also for sets nested deeper than limits::kMaxTypedDepth.
Result<FieldSet> ReadFieldsV1(std::string_view json);
Result<FieldSet> FieldsV1FromValue(const Value& value);

// Encodes one element: `f:image`.
std::string WriteStep(const PathElement& element);

}  // namespace cox::apply
