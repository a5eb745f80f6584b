// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "object/patch/strategic_merge.h"

namespace cox::patch::strategic {
namespace {

// A patch's list of objects, split by directives.
struct ListPatch {
  Value::Array items;                       // those without "$patch"
  std::unordered_set<std::string> deleted;  // identities
  bool replace = false;
};

Result<ListPatch> TakeApart(const Value::Array& patch, std::string_view merge_key) {
  ListPatch out;
  for (const Value& item : patch) {
    if (!item.is_object()) return WrongType("map[string]interface {}", item);
    const Value* directive = item.Find(kDirective);
    if (directive == nullptr) {
      out.items.push_back(item);
      continue;
    }
    std::string_view name = directive->is_string() ? directive->as_string() : "";
    if (name == "delete") {
      COX_ASSIGN_OR_RETURN(const Value* key, MergeKeyOf(item, merge_key));
      out.deleted.insert(Identity(*key));
    } else if (name == "replace") {
      out.replace = true;
    } else if (name == "merge") {
      return Fail("merging lists cannot yet be specified in the patch");
    } else {
      return UnknownDirective(item.as_object());
    }
  }
  return out;
}

Status RemoveDeleted(Value::Array& items, const std::unordered_set<std::string>& deleted,
                     std::string_view merge_key) {
  if (deleted.empty()) return {};
  COX_ASSIGN_OR_RETURN(std::vector<std::string> identities, Identities(items, merge_key));
  size_t kept = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (deleted.contains(identities[i])) continue;
    if (kept != i) items[kept] = std::move(items[i]);
    ++kept;
  }
  items.resize(kept);
  return {};
}

// Finds items by merge key, with the semantics of a linear search: it ends at the first match, and
// fails at an earlier item without the key.
class ItemIndex {
 public:
  ItemIndex(const Value::Array& items, std::string_view merge_key) : merge_key_(merge_key) {
    for (size_t i = 0; i < items.size(); ++i) {
      const Value* key = items[i].Find(merge_key);
      if (key == nullptr) {
        keyless_ = i;
        break;
      }
      at_.emplace(Identity(*key), i);
    }
  }

  Result<std::optional<size_t>> Find(const std::string& identity, const Value::Array& items) const {
    if (auto found = at_.find(identity); found != at_.end()) return std::optional(found->second);
    if (keyless_) return NoMergeKey(items[*keyless_], merge_key_);
    return std::optional<size_t>();
  }
  void Add(std::string identity, size_t at) { at_.emplace(std::move(identity), at); }

 private:
  std::string_view merge_key_;
  std::unordered_map<std::string, size_t> at_;
  std::optional<size_t> keyless_;
};

Result<Value::Array> MergeObjects(Value::Array items, const Value::Array& patch,
                                  const FieldMeta& field, Mode mode) {
  if (field.merge_key.empty()) {
    return Fail("cannot merge lists without merge key for " + std::string(GoKind(*field.type)));
  }
  COX_ASSIGN_OR_RETURN(ListPatch apart, TakeApart(patch, field.merge_key));
  if (apart.replace) {
    items = std::exchange(apart.items, {});
  } else {
    COX_RETURN_IF_ERROR(RemoveDeleted(items, apart.deleted, field.merge_key));
  }

  const Value::Array server = items;
  ItemIndex index(items, field.merge_key);
  for (Value& change : apart.items) {
    COX_ASSIGN_OR_RETURN(const Value* key, MergeKeyOf(change, field.merge_key));
    std::string identity = Identity(*key);
    COX_ASSIGN_OR_RETURN(std::optional<size_t> at, index.Find(identity, items));
    if (at) {
      COX_RETURN_IF_ERROR(
          MergeObject(items[*at].as_object(), change.as_object(), *field.type, mode));
    } else {
      index.Add(std::move(identity), items.size());
      items.push_back(change);
    }
  }
  COX_ASSIGN_OR_RETURN(std::vector<std::string> merged_ids, Identities(items, field.merge_key));
  COX_ASSIGN_OR_RETURN(std::vector<std::string> patch_ids,
                       Identities(apart.items, field.merge_key));
  COX_ASSIGN_OR_RETURN(std::vector<std::string> server_ids, Identities(server, field.merge_key));
  return Arrange(std::move(items), merged_ids, patch_ids, server_ids);
}

Result<Value::Array> MergeScalars(Value::Array original, const Value::Array& patch) {
  COX_ASSIGN_OR_RETURN(std::vector<std::string> server_ids, Identities(original, ""));
  COX_ASSIGN_OR_RETURN(std::vector<std::string> patch_ids, Identities(patch, ""));
  Value::Array merged;
  std::vector<std::string> merged_ids;
  std::unordered_set<std::string_view> seen;
  auto add = [&](const Value& item, const std::string& identity) {
    if (!seen.insert(identity).second) return;
    merged.push_back(item);
    merged_ids.push_back(identity);
  };
  for (size_t i = 0; i < original.size(); ++i) add(original[i], server_ids[i]);
  for (size_t i = 0; i < patch.size(); ++i) add(patch[i], patch_ids[i]);
  return Arrange(std::move(merged), merged_ids, patch_ids, server_ids);
}

}  // namespace

Result<Value::Array> MergeLists(Value::Array original, const Value::Array& patch,
                                const FieldMeta& field, Mode mode) {
  if (original.empty() && patch.empty()) return original;
  COX_ASSIGN_OR_RETURN(ItemKind kind, CommonItemKind(original, patch));
  if (kind == ItemKind::kObject) return MergeObjects(std::move(original), patch, field, mode);
  // With a merge key, the items must be objects.
  if (!field.merge_key.empty()) {
    return WrongType("map[string]interface {}",
                     original.empty() ? patch.front() : original.front());
  }
  return MergeScalars(std::move(original), patch);
}

Result<Value::Array> RemoveScalars(Value::Array original, const Value::Array& deleted,
                                   const FieldMeta& field, Mode mode) {
  if (original.empty() && deleted.empty()) return original;
  COX_ASSIGN_OR_RETURN(ItemKind kind, CommonItemKind(original, deleted));
  if (kind == ItemKind::kObject) return MergeObjects(std::move(original), deleted, field, mode);
  std::unordered_set<std::string> gone;
  for (const Value& item : deleted) gone.insert(Identity(item));
  std::erase_if(original, [&](const Value& item) { return gone.contains(Identity(item)); });
  return original;
}

}  // namespace cox::patch::strategic
