// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "object/patch/strategic_diff.h"
#include "object/patch/strategic_merge.h"

namespace cox::patch::strategic {
namespace {

// For merged lists of objects: compares items of the two patches with the same merge key.
Result<bool> ListsHaveConflict(const Value::Array& a, const Value::Array& b,
                               const FieldMeta& field) {
  if (a.empty() || b.empty()) return false;
  COX_ASSIGN_OR_RETURN(ItemKind kind, CommonItemKind(a, b));
  if (kind == ItemKind::kScalar) return false;  // each patch adds its own
  COX_ASSIGN_OR_RETURN(std::vector<std::string> a_ids, Identities(a, field.merge_key));
  COX_ASSIGN_OR_RETURN(std::vector<std::string> b_ids, Identities(b, field.merge_key));
  std::unordered_map<std::string_view, const Value*> by_id;
  for (size_t i = 0; i < b.size(); ++i) by_id.emplace(b_ids[i], &b[i]);
  for (size_t i = 0; i < a.size(); ++i) {
    auto found = by_id.find(a_ids[i]);
    if (found == by_id.end()) continue;
    COX_ASSIGN_OR_RETURN(bool conflict,
                         HaveConflict(a[i].as_object(), found->second->as_object(), *field.type));
    if (conflict) return true;
  }
  return false;
}

Result<bool> MembersHaveConflict(const std::string& key, const Value& a, const Value& b,
                                 const Type& type) {
  if (a.is_object() && b.is_object()) {
    COX_ASSIGN_OR_RETURN(FieldMeta field, FindObjectField(type, key));
    if (field.replace) return false;  // the patch's value wins, as in kubectl
    return HaveConflict(a.as_object(), b.as_object(), *field.type);
  }
  if (a.is_array() && b.is_array()) {
    COX_ASSIGN_OR_RETURN(FieldMeta field, FindListField(type, key));
    if (field.merge) return ListsHaveConflict(a.as_array(), b.as_array(), field);
  }
  return a != b;
}

}  // namespace

Result<bool> HaveConflict(const Value::Object& a, const Value::Object& b, const Type& type) {
  // If one patch deletes or replaces the whole object and the other changes it, they conflict
  // unless the directives are equal.
  const Value* a_directive = a.Find(kDirective);
  const Value* b_directive = b.Find(kDirective);
  if (a_directive != nullptr || b_directive != nullptr) {
    return a_directive == nullptr || b_directive == nullptr || *a_directive != *b_directive;
  }
  for (const auto& [key, value] : a) {
    // Directives are implied by the members next to them.
    if (key == kRetainKeys || IsOrderKey(key) || IsDeleteListKey(key)) continue;
    const Value* other = b.Find(key);
    if (other == nullptr) continue;
    COX_ASSIGN_OR_RETURN(bool conflict, MembersHaveConflict(key, value, *other, type));
    if (conflict) return true;
  }
  return false;
}

}  // namespace cox::patch::strategic
