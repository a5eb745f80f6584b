// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Common parts of strategic merge patch: directives, merge strategies of fields, error texts.
// Private to this folder.
namespace cox::patch::strategic {

inline constexpr std::string_view kDirective = "$patch";
inline constexpr std::string_view kRetainKeys = "$retainKeys";
inline constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList";
inline constexpr std::string_view kOrderPrefix = "$setElementOrder";

std::string DeleteListKey(std::string_view field);  // "$deleteFromPrimitiveList/<field>"
std::string OrderKey(std::string_view field);       // "$setElementOrder/<field>"

// Whether `key` is the order or delete directive of some list.
inline bool IsOrderKey(std::string_view key) { return key.starts_with(kOrderPrefix); }
inline bool IsDeleteListKey(std::string_view key) { return key.starts_with(kDeletePrefix); }

// "x" of "$setElementOrder/x". Errors: BadRequest if the slash is missing.
Result<std::string_view> FieldOfOrderKey(std::string_view key);
Result<std::string_view> FieldOfDeleteListKey(std::string_view key);

// The merge strategy of a field.
struct FieldMeta {
  const Type* type = nullptr;  // of the object, or of the list's items
  bool merge = false;
  bool replace = false;
  bool retain_keys = false;
  std::string_view merge_key;
};
Result<FieldMeta> FindObjectField(const Type& type, std::string_view field);
Result<FieldMeta> FindListField(const Type& type, std::string_view field);

// The Go kind of a type in error texts: "struct", "map", "int64".
std::string_view GoKind(const Type& type);

// An error without reason (code 500), as returned by the API server.
inline Status Fail(std::string message) { return {Reason::kUnknown, std::move(message)}; }
Status BadRetainKeys();
Status BadOrderList();
Status WrongType(std::string_view expected, const Value& got);
Status NoMergeKey(const Value& item, std::string_view merge_key);
Status UnknownDirective(const Value::Object& holder);

// The value of an item's merge key.
Result<const Value*> MergeKeyOf(const Value& item, std::string_view merge_key);

// The kind of the items of merged lists.
enum class ItemKind : uint8_t { kScalar, kObject };
// REQUIRES: at least one of them is not empty.
Result<ItemKind> CommonItemKind(const Value::Array& a, const Value::Array& b);

// A key that only equal scalars of the same kind share: 1, 1.0 and "1" differ.
std::string Identity(const Value& scalar);

}  // namespace cox::patch::strategic
