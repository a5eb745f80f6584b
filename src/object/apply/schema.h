// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/apply/path.h"
#include "object/type/type.h"
#include "object/type/value.h"

// The merge behavior of a Type. Used by the functions of typed.h; other files need not include it.
namespace cox::apply {

// How a value is merged.
enum class Form : uint8_t {
  kScalar,   // a scalar
  kAtomic,   // a list, map or struct that is merged as one value
  kMembers,  // a map or struct whose members have separate owners
  kItems,    // a list whose items have separate owners: sets, and lists of objects with keys
  kDeduced,  // unspecified: objects are treated as kMembers, lists as kAtomic
};

// A type at one position of an object: the field that contains a map or struct may also define
// whether it is atomic.
class TypeRef {
 public:
  TypeRef() = default;  // for an undeclared field
  explicit TypeRef(const Type& type) : type_(&type), atomic_(type.atomic) {}
  explicit TypeRef(const Field& field)
      : type_(field.type),
        atomic_(field.Has(Field::kAtomic) || (field.type->atomic && !field.Has(Field::kGranular))) {
  }

  explicit operator bool() const { return type_ != nullptr; }
  const Type& type() const { return *type_; }
  Form form() const;
  // The same, but resolves kDeduced by the values; either may be null.
  Form FormFor(const Value* a, const Value* b) const;

  // The type of the member `name`; false if it is not declared and unknown members are not
  // preserved.
  TypeRef Member(std::string_view name) const;
  // Whether `name` is a field of a struct, as opposed to a key of a map or an unknown member.
  bool Declares(std::string_view name) const;
  // The type of the list's items.
  TypeRef Item() const;

 private:
  const Type* type_ = nullptr;
  bool atomic_ = false;
};

// A list item with its path element.
struct ListItem {
  PathElement element;
  size_t position;
};

// The value of the key field `key` of a list item that omits it; nullopt: none.
std::optional<Value> KeyDefault(const Type* item, std::string_view key);

// The items of a kItems list, sorted by element; items with equal elements stay in list order.
// Errors: BadRequest, with a text relative to the path of the list.
Result<std::vector<ListItem>> NameItems(const Value::Array& items, TypeRef list);

// The end of the run of equal elements that starts at `first`.
size_t EndOfRun(const std::vector<ListItem>& items, size_t first);

// Whether the value is null, {} or [].
bool IsEmptyOrNull(const Value& value);

}  // namespace cox::apply
