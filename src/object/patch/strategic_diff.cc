// SPDX-License-Identifier: Apache-2.0
#include "object/patch/strategic_diff.h"

#include <algorithm>

#include "object/patch/strategic_merge.h"
#include "object/type/go_text.h"

namespace cox::patch::strategic {
namespace {

// Compares Go's dynamic types: unlike in JSON, 1 and 1.0 differ.
bool SameGoType(const Value& a, const Value& b) { return a.kind() == b.kind(); }

// The patch of a list, with its directives.
struct ListDiff {
  Value::Array items;
  Value::Array deleted;  // scalars
  Value::Array order;
};

// An item with its sort key. Lists are sorted by text, not by value: 10 comes before 2, as in the
// patches of kubectl.
struct Sorted {
  std::string text;
  const Value* item;
};

Result<std::vector<Sorted>> SortItems(const Value::Array& items, std::string_view merge_key) {
  std::vector<Sorted> out;
  for (const Value& item : items) {
    const Value* scalar = &item;
    if (!merge_key.empty() || item.is_object()) {
      COX_ASSIGN_OR_RETURN(scalar, MergeKeyOf(item, merge_key));
    }
    // Strings are not truncated, as GoText does with long ones.
    out.push_back(
        {scalar->is_string() ? std::string(scalar->as_string()) : GoText(*scalar), &item});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Sorted& a, const Sorted& b) { return a.text < b.text; });
  return out;
}

// Traverses two sorted lists in parallel; a null means that the item is absent.
template <class Visit>
Status WalkPairs(const std::vector<Sorted>& original, const std::vector<Sorted>& modified,
                 Visit visit) {
  auto o = original.begin();
  auto m = modified.begin();
  while (o != original.end() || m != modified.end()) {
    bool take_o = m == modified.end() || (o != original.end() && o->text <= m->text);
    bool take_m = o == original.end() || (m != modified.end() && m->text <= o->text);
    COX_RETURN_IF_ERROR(visit(take_o ? (o++)->item : nullptr, take_m ? (m++)->item : nullptr));
  }
  return {};
}

// Sorts `items`, which are parts of items of `modified`, in its order.
Status SortLike(Value::Array& items, const Value::Array& modified, std::string_view merge_key) {
  COX_ASSIGN_OR_RETURN(std::vector<std::string> identities, Identities(items, merge_key));
  COX_ASSIGN_OR_RETURN(std::vector<std::string> order, Identities(modified, merge_key));
  items = Arrange(std::move(items), identities, order, {});
  return {};
}

Status DiffListsOfScalars(const Value::Array& original, const Value::Array& modified,
                          const DiffOptions& options, ListDiff& out) {
  COX_ASSIGN_OR_RETURN(std::vector<Sorted> old_items, SortItems(original, ""));
  COX_ASSIGN_OR_RETURN(std::vector<Sorted> new_items, SortItems(modified, ""));
  COX_RETURN_IF_ERROR(WalkPairs(old_items, new_items, [&](const Value* o, const Value* m) {
    if (o == nullptr && options.changes) out.items.push_back(*m);
    // A deletion removes all equal items.
    if (m == nullptr && options.deletions && (out.deleted.empty() || out.deleted.back() != *o)) {
      out.deleted.push_back(*o);
    }
    return Status();
  }));
  COX_RETURN_IF_ERROR(SortLike(out.items, modified, ""));

  // kubectl compares with the sorted original here; see strategic.h.
  bool as_sorted = std::equal(old_items.begin(), old_items.end(), modified.begin(), modified.end(),
                              [](const Sorted& o, const Value& m) { return *o.item == m; });
  if ((options.deletions && !out.deleted.empty()) || (options.changes && !as_sorted)) {
    out.order = modified;
  }
  return {};
}

Value KeyOnly(const Value& item, std::string_view merge_key) {
  return Value::MakeObject({{merge_key, *item.Find(merge_key)}});
}

bool SameOrder(const Value::Array& a, const Value::Array& b, std::string_view merge_key) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Value& x, const Value& y) {
    return Identity(*x.Find(merge_key)) == Identity(*y.Find(merge_key));
  });
}

// The patch of a list item, with "$retainKeys" if its field has this strategy.
Result<Value::Object> DiffMembers(const Value::Object& original, const Value::Object& modified,
                                  const FieldMeta& field, const DiffOptions& options) {
  COX_ASSIGN_OR_RETURN(Value::Object patch, DiffObjects(original, modified, *field.type, options));
  if (!field.retain_keys || modified.empty()) return patch;
  bool removed = std::any_of(original.begin(), original.end(),
                             [&](const auto& member) { return !modified.contains(member.key); });
  if (patch.empty() && !removed) return patch;
  Value::Array keys;
  for (const auto& [key, value] : modified) keys.emplace_back(key);
  patch[kRetainKeys] = std::move(keys);
  return patch;
}

Status DiffListsOfObjects(const Value::Array& original, const Value::Array& modified,
                          const FieldMeta& field, const DiffOptions& options, ListDiff& out) {
  COX_ASSIGN_OR_RETURN(std::vector<Sorted> old_items, SortItems(original, field.merge_key));
  COX_ASSIGN_OR_RETURN(std::vector<Sorted> new_items, SortItems(modified, field.merge_key));
  Value::Array deletions;
  COX_RETURN_IF_ERROR(
      WalkPairs(old_items, new_items, [&](const Value* o, const Value* m) -> Status {
        if (o == nullptr) {
          if (options.changes) out.items.push_back(*m);
        } else if (m == nullptr) {
          if (!options.deletions) return {};
          Value deletion = KeyOnly(*o, field.merge_key);
          deletion.as_object()[kDirective] = "delete";
          deletions.push_back(std::move(deletion));
        } else {
          COX_ASSIGN_OR_RETURN(Value::Object change,
                               DiffMembers(o->as_object(), m->as_object(), field, options));
          if (change.empty()) return {};
          change[field.merge_key] = *m->Find(field.merge_key);
          out.items.emplace_back(std::move(change));
        }
        return {};
      }));
  COX_RETURN_IF_ERROR(SortLike(out.items, modified, field.merge_key));
  std::move(deletions.begin(), deletions.end(), std::back_inserter(out.items));

  if (!out.items.empty() || (options.changes && !SameOrder(original, modified, field.merge_key))) {
    for (const Value& item : modified) out.order.push_back(KeyOnly(item, field.merge_key));
  }
  return {};
}

Result<ListDiff> DiffLists(const Value::Array& original, const Value::Array& modified,
                           const FieldMeta& field, const DiffOptions& options) {
  ListDiff out;
  if (original.empty()) {
    if (options.changes) out.items = modified;
    return out;
  }
  COX_ASSIGN_OR_RETURN(ItemKind kind, CommonItemKind(original, modified));
  if (kind == ItemKind::kObject) {
    COX_RETURN_IF_ERROR(DiffListsOfObjects(original, modified, field, options, out));
  } else {
    COX_RETURN_IF_ERROR(DiffListsOfScalars(original, modified, options, out));
  }
  if (!options.order) out.order.clear();
  return out;
}

// The patch of a member that is an object on both sides.
Status DiffObjectMember(const std::string& key, const Value& original, const Value& modified,
                        const Type& type, const DiffOptions& options, Value::Object& patch) {
  Result<FieldMeta> field = FindObjectField(type, key);
  if (!field.ok()) return original == modified ? Status() : field.status();
  if (field->replace) {
    if (options.changes) patch[key] = modified;  // also if it is unchanged, as kubectl does
    return {};
  }
  COX_ASSIGN_OR_RETURN(Value::Object below,
                       DiffMembers(original.as_object(), modified.as_object(), *field, options));
  if (!below.empty()) patch[key] = Value(std::move(below));
  return {};
}

// The patch of a member that is a list on both sides.
Status DiffListMember(const std::string& key, const Value& original, const Value& modified,
                      const Type& type, const DiffOptions& options, Value::Object& patch) {
  Result<FieldMeta> field = FindListField(type, key);
  if (!field.ok()) return original == modified ? Status() : field.status();
  if (!field->merge) {
    if (options.changes && original != modified) patch[key] = modified;
    return {};
  }
  COX_ASSIGN_OR_RETURN(ListDiff diff,
                       DiffLists(original.as_array(), modified.as_array(), *field, options));
  if (!diff.items.empty()) patch[key] = std::move(diff.items);
  if (!diff.deleted.empty()) patch[DeleteListKey(key)] = std::move(diff.deleted);
  if (!diff.order.empty()) patch[OrderKey(key)] = std::move(diff.order);
  return {};
}

}  // namespace

Result<Value::Object> DiffObjects(const Value::Object& original, const Value::Object& modified,
                                  const Type& type, const DiffOptions& options) {
  Value::Object patch;
  for (const auto& [key, wanted] : modified) {
    const Value* old = original.Find(key);
    if (old == nullptr || !SameGoType(*old, wanted)) {
      if (options.changes) patch[key] = wanted;
    } else if (wanted.is_object()) {
      COX_RETURN_IF_ERROR(DiffObjectMember(key, *old, wanted, type, options, patch));
    } else if (wanted.is_array()) {
      COX_RETURN_IF_ERROR(DiffListMember(key, *old, wanted, type, options, patch));
    } else if (options.changes && *old != wanted) {
      patch[key] = wanted;
    }
  }
  for (const auto& [key, value] : original) {
    if (options.deletions && !modified.contains(key)) patch[key] = nullptr;
  }
  return patch;
}

}  // namespace cox::patch::strategic
