// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "base/strings.h"
#include "object/apply/schema.h"
#include "object/apply/typed.h"
#include "object/apply/walk.h"
#include "object/type/go_text.h"

namespace cox::apply {
namespace {

// Malicious values may be as long as the request, so truncate them in error texts.
constexpr size_t kMaxShown = 1024;

Status Expected(std::string_view what, const Value& got) {
  std::string shown = GoText(got);
  if (shown.size() > kMaxShown) shown.resize(kMaxShown);
  return Status::BadRequest(": expected " + std::string(what) + ", got &{" + shown + "}");
}

Status ExpectedString(const Value& got) {
  std::string shown = GoSyntax(got);
  if (shown.size() > kMaxShown) shown.resize(kMaxShown);
  return Status::BadRequest(": expected string, got &value.valueUnstructured{Value:" + shown + "}");
}

std::string_view GoKind(const Value& v) {
  switch (v.kind()) {
    case Value::Kind::kBool:
      return "boolean";
    case Value::Kind::kObject:
      return "map";
    case Value::Kind::kArray:
      return "list";
    default:
      return v.KindName();
  }
}

Status CheckScalar(const Value& value, Shape shape) {
  switch (shape) {
    case Shape::kBool:
      return value.is_bool() ? Status() : Expected("boolean", value);
    case Shape::kInt32:
    case Shape::kInt64:
    case Shape::kDouble:
      if (value.is_number()) return Status();
      return Status::BadRequest(": expected numeric (int or float), got " +
                                std::string(GoKind(value)));
    case Shape::kQuantity:
      return value.is_array() || value.is_object() ? ExpectedString(value) : Status();
    default:
      return value.is_string() ? Status() : ExpectedString(value);
  }
}

class Validator {
 public:
  explicit Validator(Duplicates duplicates) : duplicates_(duplicates) {}

  Status Check(const Value& value, TypeRef ref, int depth) {
    if (depth > kMaxWalkDepth) return TooDeep();
    if (value.is_null()) return Status();
    if (ref.form() == Form::kDeduced) return CheckUnknown(value, depth);
    switch (ref.type().shape) {
      case Shape::kStruct:
      case Shape::kMap:
        return CheckMembers(value, ref, depth);
      case Shape::kList:
        return CheckList(value, ref, depth);
      case Shape::kRaw:
        return CheckUnknown(value, depth);
      default:
        return CheckScalar(value, ref.type().shape);
    }
  }

 private:
  Status CheckMembers(const Value& value, TypeRef ref, int depth) {
    if (!value.is_object()) return Expected("map", value);
    for (const auto& [key, member] : value.as_object()) {
      TypeRef below = ref.Member(key);
      Status status = below ? Check(member, below, depth + 1)
                            : Status::BadRequest(": field not declared in schema");
      if (!status.ok()) return Under(PathElement::Field(key), status);
    }
    return Status();
  }

  Status CheckList(const Value& value, TypeRef ref, int depth) {
    if (!value.is_array()) return Expected("list", value);
    const Value::Array& items = value.as_array();
    if (ref.type().list_type == ListType::kAtomic) {
      for (size_t i = 0; i < items.size(); ++i) {
        Status status = Check(items[i], ref.Item(), depth + 1);
        if (!status.ok()) return Under(PathElement::Index(static_cast<int64_t>(i)), status);
      }
      return Status();
    }
    COX_ASSIGN_OR_RETURN(std::vector<ListItem> named, NameItems(items, ref));
    if (duplicates_ == Duplicates::kForbid) COX_RETURN_IF_ERROR(CheckUnique(named));
    for (const ListItem& item : named) {
      Status status = Check(items[item.position], ref.Item(), depth + 1);
      if (!status.ok()) return Under(item.element, status);
    }
    return Status();
  }

  static Status CheckUnique(const std::vector<ListItem>& named) {
    const ListItem* twice = nullptr;
    for (size_t i = 0; i + 1 < named.size(); ++i) {
      if (named[i].element != named[i + 1].element) continue;
      if (twice == nullptr || named[i + 1].position < twice->position) twice = &named[i + 1];
    }
    if (twice == nullptr) return Status();
    std::string text = ": duplicate entries for key ";
    twice->element.AppendTo(&text);
    return Status::BadRequest(text);
  }

  // Accepts any value, but limits the depth to protect the stack.
  Status CheckUnknown(const Value& value, int depth) {
    if (depth > kMaxWalkDepth) return TooDeep();
    if (value.is_object()) {
      for (const auto& [key, member] : value.as_object()) {
        COX_RETURN_IF_ERROR(CheckUnknown(member, depth + 1));
      }
    }
    if (value.is_array()) {
      for (const Value& item : value.as_array()) {
        COX_RETURN_IF_ERROR(CheckUnknown(item, depth + 1));
      }
    }
    return Status();
  }

  const Duplicates duplicates_;
};

}  // namespace

Status Validate(const Value& value, const Type& type, Duplicates duplicates) {
  return Validator(duplicates).Check(value, TypeRef(type), 0);
}

}  // namespace cox::apply
