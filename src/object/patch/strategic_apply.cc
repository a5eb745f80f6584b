// SPDX-License-Identifier: Apache-2.0
// Merging objects, and the directives about their members.
#include <algorithm>
#include <unordered_set>

#include "object/patch/depth.h"
#include "object/patch/strategic.h"
#include "object/patch/strategic_merge.h"
#include "object/type/go_text.h"
#include "object/type/limits.h"

namespace cox::patch {
namespace strategic {
namespace {

enum class Nulls : uint8_t { kKeep, kDrop };

// Prepares a value of a patch for a document without this member: drops objects with "$patch", and
// nulls. False if nothing is left.
bool Clean(Value& value, Nulls nulls) {
  if (value.is_null()) return nulls == Nulls::kKeep;
  if (value.is_object()) {
    if (value.Find(kDirective) != nullptr) return false;
    Value::Object kept;
    for (auto& [key, member] : value.as_object()) {
      if (Clean(member, nulls)) kept.Append(std::move(key), std::move(member));
    }
    value = Value(std::move(kept));
  } else if (value.is_array()) {
    Value::Array& items = value.as_array();
    std::erase_if(items, [&](Value& item) { return !Clean(item, nulls); });
  }
  return true;
}

// Executes "$patch" in an object.
Status ApplyDirective(Value::Object& original, const Value::Object& patch) {
  const Value& directive = *patch.Find(kDirective);
  if (directive == Value("delete")) {
    original = {};
    return {};
  }
  if (directive == Value("replace")) {
    original = patch;
    original.Erase(kDirective);
    return {};
  }
  return UnknownDirective(patch);
}

// "$retainKeys": every member that the patch sets must be listed; members not listed are removed.
Status RetainKeys(Value::Object& original, const Value::Object& patch) {
  const Value* directive = patch.Find(kRetainKeys);
  if (directive == nullptr) return {};
  if (!directive->is_array()) return BadRetainKeys();
  std::unordered_set<std::string_view> retained;
  for (const Value& key : directive->as_array()) {
    if (key.is_string()) retained.insert(key.as_string());
  }
  for (const auto& [key, value] : patch) {
    bool exempt = value.is_null() || key == kRetainKeys || IsOrderKey(key) || IsDeleteListKey(key);
    if (!exempt && !retained.contains(key)) return BadRetainKeys();
  }
  Value::Object kept;
  for (auto& [key, value] : original) {
    if (retained.contains(key)) kept.Append(std::move(key), std::move(value));
  }
  original = std::move(kept);
  return {};
}

// The list `key` of `holder`; null if it does not exist.
Result<const Value::Array*> ListAt(const Value::Object& holder, std::string_view key) {
  const Value* value = holder.Find(key);
  if (value == nullptr) return static_cast<const Value::Array*>(nullptr);
  if (!value->is_array()) return WrongType("[]interface {}", *value);
  return &value->as_array();
}

// The merge key of an ordered list's items; empty if they are scalars.
Result<std::string_view> OrderingKey(const Value::Array& merged, const Value::Array& order,
                                     const FieldMeta& field) {
  auto has_objects = [](const Value::Array& items) {
    return std::any_of(items.begin(), items.end(),
                       [](const Value& item) { return item.is_object() || item.is_array(); });
  };
  if (field.merge_key.empty() && (has_objects(merged) || has_objects(order))) return BadOrderList();
  for (size_t i = 0; !field.merge_key.empty() && i < order.size(); ++i) {
    if (!order[i].is_object()) {
      return Fail("value for key " + std::to_string(i) + " is not a map");
    }
  }
  return field.merge_key;
}

// The order of the server's items for an order directive. It is not exactly the order of the list:
// as in the API server, items that the patch adds take the positions of those that it deletes, so
// unmentioned items stay before them. Renaming an item with kubectl apply depends on this.
Result<std::vector<std::string>> ServerOrder(const Value::Array* server, const Value::Array* change,
                                             std::string_view merge_key) {
  std::vector<std::string> ids;
  if (server == nullptr) return ids;
  COX_ASSIGN_OR_RETURN(ids, Identities(*server, merge_key));
  if (change == nullptr || merge_key.empty()) return ids;

  const size_t places = ids.size();
  std::unordered_set<std::string> deleted;
  for (const Value& item : *change) {
    const Value* key = item.Find(merge_key);
    if (item.Find(kDirective) != nullptr && key != nullptr) deleted.insert(Identity(*key));
  }
  std::erase_if(ids, [&](const std::string& id) { return deleted.contains(id); });
  std::unordered_set<std::string> known(ids.begin(), ids.end());
  for (const Value& item : *change) {
    if (ids.size() == places) break;
    const Value* key = item.Find(merge_key);
    if (item.Find(kDirective) != nullptr || key == nullptr) continue;
    if (std::string id = Identity(*key); known.insert(id).second) ids.push_back(std::move(id));
  }
  return ids;
}

// "$setElementOrder/<name>": merges that list, executes its delete directive, and sorts it.
Status MergeOrderedList(Value::Object& original, const Value::Object& patch, std::string_view name,
                        const Value& order_value, const Type& type, Mode mode) {
  if (!order_value.is_array()) return WrongType("[]interface {}", order_value);
  const Value::Array& order = order_value.as_array();
  COX_ASSIGN_OR_RETURN(const Value::Array* server, ListAt(original, name));
  COX_ASSIGN_OR_RETURN(const Value::Array* change, ListAt(patch, name));
  COX_ASSIGN_OR_RETURN(const Value::Array* deleted, ListAt(patch, DeleteListKey(name)));
  COX_ASSIGN_OR_RETURN(FieldMeta field, FindListField(type, name));
  if (server == nullptr && change == nullptr) return {};

  if ((server == nullptr || server->empty()) && (change == nullptr || change->empty())) {
    return Fail("no elements in any of the given slices");
  }
  COX_ASSIGN_OR_RETURN(std::string_view key,
                       OrderingKey(change != nullptr ? *change : *server, order, field));
  if (change != nullptr && mode == Mode::kApply) {
    COX_RETURN_IF_ERROR(CheckOrder(*change, order, key));
  }
  COX_ASSIGN_OR_RETURN(std::vector<std::string> order_ids, Identities(order, key));

  Value fresh = change == nullptr ? *server : *change;
  if (server == nullptr) Clean(fresh, Nulls::kKeep);
  Value::Array merged = std::move(fresh.as_array());
  if (change != nullptr && server != nullptr && field.merge) {
    COX_ASSIGN_OR_RETURN(merged, MergeLists(*server, *change, field, mode));
  }
  if (deleted != nullptr && mode == Mode::kApply) {
    COX_ASSIGN_OR_RETURN(merged, RemoveScalars(std::move(merged), *deleted, field, mode));
  }
  COX_ASSIGN_OR_RETURN(std::vector<std::string> merged_ids, Identities(merged, key));
  COX_ASSIGN_OR_RETURN(std::vector<std::string> server_ids, ServerOrder(server, change, key));
  original[name] = Arrange(std::move(merged), merged_ids, order_ids, server_ids);
  return {};
}

// "$deleteFromPrimitiveList/<name>" for a list without an order directive.
Status ApplyDeleteList(Value::Object& original, std::string_view key, const Value& deleted,
                       const Type& type) {
  COX_ASSIGN_OR_RETURN(std::string_view name, FieldOfDeleteListKey(key));
  Value* list = original.Find(name);
  if (deleted.is_null()) original.Erase(name);
  if (deleted.is_null() || list == nullptr || !list->is_array() || !deleted.is_array()) return {};
  COX_ASSIGN_OR_RETURN(FieldMeta field, FindListField(type, name));
  COX_ASSIGN_OR_RETURN(
      *list, RemoveScalars(std::move(list->as_array()), deleted.as_array(), field, Mode::kApply));
  return {};
}

// Merges a member that the patch sets to a value.
Status MergeMember(Value::Object& original, const std::string& key, const Value& change,
                   const Type& type, Mode mode) {
  Value* member = original.Find(key);
  bool both_objects = member != nullptr && member->is_object() && change.is_object();
  bool both_lists = member != nullptr && member->is_array() && change.is_array();
  if (both_objects) {
    COX_ASSIGN_OR_RETURN(FieldMeta field, FindObjectField(type, key));
    if (!field.replace) {
      return MergeObject(member->as_object(), change.as_object(), *field.type, mode);
    }
    *member = change;
    return {};
  }
  if (both_lists) {
    COX_ASSIGN_OR_RETURN(FieldMeta field, FindListField(type, key));
    if (!field.merge) {
      *member = change;
      return {};
    }
    COX_ASSIGN_OR_RETURN(*member,
                         MergeLists(std::move(member->as_array()), change.as_array(), field, mode));
    return {};
  }
  Value fresh = change;
  if (mode == Mode::kApply && !Clean(fresh, Nulls::kDrop)) {
    original.Erase(key);
  } else {
    original[key] = std::move(fresh);
  }
  return {};
}

}  // namespace

Status MergeObject(Value::Object& original, const Value::Object& patch, const Type& type,
                   Mode mode) {
  if (patch.contains(kDirective)) return ApplyDirective(original, patch);

  const bool apply = mode == Mode::kApply;
  if (apply) COX_RETURN_IF_ERROR(RetainKeys(original, patch));
  std::unordered_set<std::string_view> ordered;  // lists with an order directive
  for (const auto& [key, value] : patch) {
    if (!IsOrderKey(key)) continue;
    COX_ASSIGN_OR_RETURN(std::string_view name, FieldOfOrderKey(key));
    COX_RETURN_IF_ERROR(MergeOrderedList(original, patch, name, value, type, mode));
    ordered.insert(name);
  }
  for (const auto& [key, value] : patch) {
    bool about_members = key == kRetainKeys || IsOrderKey(key) || IsDeleteListKey(key);
    if (about_members) {
      if (!apply) original[key] = value;
    } else if (!ordered.contains(key)) {
      COX_RETURN_IF_ERROR(MergeMember(original, key, value, type, mode));
    }
  }
  // Last, so that an item that the patch both adds and deletes is deleted.
  for (const auto& [key, value] : patch) {
    if (!apply || !IsDeleteListKey(key)) continue;
    COX_ASSIGN_OR_RETURN(std::string_view name, FieldOfDeleteListKey(key));
    if (!ordered.contains(name)) COX_RETURN_IF_ERROR(ApplyDeleteList(original, key, value, type));
  }
  return {};
}

}  // namespace strategic

Result<Value> ApplyStrategicPatch(Value original, const Value& patch, const Type& type) {
  if (!patch.is_object() && !patch.is_null()) {
    return Status::BadRequest(CannotUnmarshal(patch, "value of type map[string]interface {}"));
  }
  if (!original.is_object() && !original.is_null()) {
    return Status::BadRequest(CannotUnmarshal(original, "value of type map[string]interface {}"));
  }
  if (DeeperThan(patch, limits::kMaxTypedDepth)) return Status::BadRequest("exceeded max depth");
  if (original.is_null()) original = Value::MakeObject();
  if (patch.is_object()) {
    COX_RETURN_IF_ERROR(strategic::MergeObject(original.as_object(), patch.as_object(), type,
                                               strategic::Mode::kApply));
  }
  return original;
}

}  // namespace cox::patch
