// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/type/type.h"
#include "object/type/value.h"

// What the parts of strategic merge patch share: directives, how fields merge, error texts.
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

// "x" of "$setElementOrder/x". BadRequest if the slash is missing.
Result<std::string_view> FieldOfOrderKey(std::string_view key);
Result<std::string_view> FieldOfDeleteListKey(std::string_view key);

// How a field merges.
struct FieldMeta {
  const Type* type = nullptr;  // of an object: its own; of a list: its items'
  bool merge = false;
  bool replace = false;
  bool retain_keys = false;
  std::string_view merge_key;
};
Result<FieldMeta> FindObjectField(const Type& type, std::string_view field);
Result<FieldMeta> FindListField(const Type& type, std::string_view field);

// The Go kind of a type's values, as error texts name it: "struct", "map", "int64".
std::string_view GoKind(const Type& type);

// A failure the API server answers with 500 and no reason.
inline Status Fail(std::string message) { return {Reason::kUnknown, std::move(message)}; }
Status BadRetainKeys();
Status BadOrderList();
Status WrongType(std::string_view expected, const Value& got);
Status NoMergeKey(const Value& item, std::string_view merge_key);
Status UnknownDirective(const Value::Object& holder);

// The value of an item's merge key.
Result<const Value*> MergeKeyOf(const Value& item, std::string_view merge_key);

// What the items of lists that merge have in common.
enum class ItemKind : uint8_t { kScalar, kObject };
// REQUIRES: one of them is not empty.
Result<ItemKind> CommonItemKind(const Value::Array& a, const Value::Array& b);

// A scalar as a key that only equal scalars of the same kind share: 1, 1.0 and "1" differ.
std::string Identity(const Value& scalar);

}  // namespace cox::patch::strategic
