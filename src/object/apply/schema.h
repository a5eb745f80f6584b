// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/apply/path.h"
#include "object/type/type.h"
#include "object/type/value.h"

// How a Type says that values merge. The walks of typed.h share it; others need not include it.
namespace cox::apply {

// What a value is to writers who merge.
enum class Form : uint8_t {
  kScalar,   // one value
  kAtomic,   // a list, map or struct that is one value
  kMembers,  // a map or struct whose members have owners of their own
  kItems,    // a list whose items have: sets, and lists of objects with keys
  kDeduced,  // nothing is known: objects are read as kMembers, lists as kAtomic
};

// A type as it stands at one place of an object: whether a map or struct is atomic is also said by
// the field that holds it.
class TypeRef {
 public:
  TypeRef() = default;  // of a field that is not declared
  explicit TypeRef(const Type& type) : type_(&type), atomic_(type.atomic) {}
  explicit TypeRef(const Field& field)
      : type_(field.type),
        atomic_(field.Has(Field::kAtomic) || (field.type->atomic && !field.Has(Field::kGranular))) {
  }

  explicit operator bool() const { return type_ != nullptr; }
  const Type& type() const { return *type_; }
  Form form() const;
  // The same, but kDeduced settled by what the values are; either may be null.
  Form FormFor(const Value* a, const Value* b) const;

  // Of the member `name`; false when it is not declared and unknown members are not kept.
  TypeRef Member(std::string_view name) const;
  // Whether `name` is a field of a struct, rather than a key of a map or unknown.
  bool Declares(std::string_view name) const;
  // Of a list's items.
  TypeRef Item() const;

 private:
  const Type* type_ = nullptr;
  bool atomic_ = false;
};

// A list item under the name that paths give it.
struct ListItem {
  PathElement element;
  size_t position;
};

// The items of a kItems list, sorted by element; items of the same name stay in list order.
// Errors: BadRequest, with a text that starts behind the list's own path.
Result<std::vector<ListItem>> NameItems(const Value::Array& items, TypeRef list);

// The end of the run of equal names that starts at `first`.
size_t EndOfRun(const std::vector<ListItem>& items, size_t first);

// null, {} or []: what has no members or items.
bool IsHollow(const Value& value);

}  // namespace cox::apply
