// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "object/apply/field_manager.h"
#include "object/apply/fields_v1.h"
#include "object/apply/managed_fields.h"
#include "object/codec/json/json.h"

// Server-side apply for typed objects: a thin layer over FieldManager, which works on Values.
namespace cox::apply {

// Converts `value` to a struct, with managedFields in the byte order of Kubernetes (a Value sorts
// members by name).
template <class T>
Result<T> FromManagedValue(const Value& value) {
  COX_ASSIGN_OR_RETURN(T object, json::FromValue<T>(value));
  for (auto& entry : object.metadata.managedFields) {
    if (!entry.fieldsV1) continue;
    COX_ASSIGN_OR_RETURN(FieldSet fields, ReadFieldsV1(entry.fieldsV1->raw));
    entry.fieldsV1->raw = WriteFieldsV1(fields);
  }
  return object;
}

// REQUIRES: `manager` was created for T::kType (both functions). A patch is a Value, because an
//   absent field differs from a zero field.
template <class T>
Result<T> Apply(const FieldManager& manager, const T& live, const Value& patch,
                std::string_view name, bool force, std::string_view now) {
  COX_ASSIGN_OR_RETURN(Value result,
                       manager.Apply(manager.Named(json::ToValue(live)), patch, name, force, now));
  return FromManagedValue<T>(result);
}

template <class T>
Result<T> Update(const FieldManager& manager, const T& live, const T& after, std::string_view name,
                 std::string_view now) {
  COX_ASSIGN_OR_RETURN(Value result,
                       manager.Update(manager.Named(json::ToValue(live)),
                                      manager.Named(json::ToValue(after)), name, now));
  return FromManagedValue<T>(result);
}

}  // namespace cox::apply
