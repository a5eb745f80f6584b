// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "object/apply/schema.h"
#include "object/apply/typed.h"
#include "object/apply/walk.h"

namespace cox::apply {
namespace {

// The fields that a value contributes to a set.
struct Owned {
  bool self = false;  // the field itself
  FieldSet below;
};

Result<Owned> Collect(const Value& value, TypeRef ref, int depth);

Result<Owned> CollectMembers(const Value& value, TypeRef ref, int depth) {
  Owned owned;
  for (const auto& [key, member] : value.as_object()) {
    PathElement element = PathElement::Field(key);
    Result<Owned> inner = Collect(member, ref.Member(key), depth + 1);
    if (!inner.ok()) return Under(element, inner.status());
    // A key of a map is owned itself, because its writer chose it. A field of a struct always
    // exists.
    owned.below.Append(std::move(element), inner->self || !ref.Declares(key),
                       std::move(inner->below));
  }
  return owned;
}

Result<Owned> CollectItems(const Value& value, TypeRef ref, int depth) {
  Owned owned;
  COX_ASSIGN_OR_RETURN(std::vector<ListItem> named, NameItems(value.as_array(), ref));
  for (size_t i = 0, end = 0; i < named.size(); i = end) {
    end = EndOfRun(named, i);
    FieldSet below;
    // The fields of duplicate items cannot be distinguished.
    if (end == i + 1) {
      Result<Owned> inner = Collect(value.as_array()[named[i].position], ref.Item(), depth + 1);
      if (!inner.ok()) return Under(named[i].element, inner.status());
      below = std::move(inner->below);
    }
    owned.below.Append(std::move(named[i].element), true, std::move(below));
  }
  return owned;
}

Result<Owned> Collect(const Value& value, TypeRef ref, int depth) {
  if (depth > kMaxWalkDepth) return TooDeep();
  switch (ref.FormFor(&value, nullptr)) {
    case Form::kMembers:
      if (value.is_object() && !value.as_object().empty()) return CollectMembers(value, ref, depth);
      break;
    case Form::kItems:
      if (value.is_array()) return CollectItems(value, ref, depth);
      break;
    default:
      break;
  }
  return Owned{.self = true, .below = {}};
}

FieldSet NamedFields(const FieldSet& set, TypeRef ref) {
  FieldSet result;
  for (const FieldSet::Entry& e : set.entries()) {
    TypeRef below(types::kAny);
    bool named = false;
    if (e.element.kind() == PathElement::Kind::kField) {
      below = ref.Member(e.element.name());
      named = ref.Declares(e.element.name());
    } else {
      below = ref.Item();
    }
    if (!below) below = TypeRef(types::kAny);
    result.Append(e.element, e.member || named, NamedFields(e.children, below));
  }
  return result;
}

}  // namespace

Result<FieldSet> ToFieldSet(const Value& value, const Type& type) {
  COX_ASSIGN_OR_RETURN(Owned owned, Collect(value, TypeRef(type), 0));
  return std::move(owned.below);
}

FieldSet WithNamedFields(const FieldSet& set, const Type& type) {
  return NamedFields(set, TypeRef(type));
}

}  // namespace cox::apply
