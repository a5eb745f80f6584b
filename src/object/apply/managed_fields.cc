// SPDX-License-Identifier: Apache-2.0
#include "object/apply/managed_fields.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "object/apply/fields_v1.h"

namespace cox::apply {
namespace {

constexpr std::string_view kManagedFields = "managedFields";
constexpr std::string_view kAncientChanges = "ancient-changes";

std::string Text(const Value& entry, std::string_view key) {
  const Value* value = entry.Find(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

Status DecodeEntry(const Value& entry, size_t position, Managers* managers) {
  if (!entry.is_object()) return Status::BadRequest("managed fields entry must be an object");
  ManagerId id;
  std::string operation = Text(entry, "operation");
  id.applies = operation == "Apply";
  if (!id.applies && operation != "Update") {
    return Status::BadRequest("operation must be `Apply` or `Update`");
  }
  std::string fields_type = Text(entry, "fieldsType");
  if (fields_type != "FieldsV1") {
    return Status::BadRequest("invalid fieldsType " + Quote(fields_type) +
                              " in managed fields entry " + std::to_string(position));
  }
  Ownership owned;
  owned.api_version = Text(entry, "apiVersion");
  owned.time = Text(entry, "time");
  id.manager = Text(entry, "manager");
  id.subresource = Text(entry, "subresource");
  if (!id.applies) id.api_version = owned.api_version;
  if (const Value* fields = entry.Find("fieldsV1")) {
    Result<FieldSet> set = FieldsV1FromValue(*fields);
    if (!set.ok()) return set.status().WithContext("error decoding set");
    owned.fields = std::move(*set);
  }
  (*managers)[std::move(id)] = std::move(owned);
  return Status();
}

Value EncodeEntry(const ManagerId& id, const Ownership& owned) {
  Value::Object entry;
  if (!owned.api_version.empty()) entry.Append("apiVersion", owned.api_version);
  entry.Append("fieldsType", "FieldsV1");
  entry.Append("fieldsV1", FieldsV1ToValue(owned.fields));
  if (!id.manager.empty()) entry.Append("manager", id.manager);
  entry.Append("operation", id.applies ? "Apply" : "Update");
  if (!id.subresource.empty()) entry.Append("subresource", id.subresource);
  if (!owned.time.empty()) entry.Append("time", owned.time);
  return entry;
}

}  // namespace

Result<Managers> DecodeManagedFields(const Value& entries) {
  Managers managers;
  if (entries.is_null()) return managers;
  if (!entries.is_array()) return Status::BadRequest("managedFields must be a list");
  for (size_t i = 0; i < entries.as_array().size(); ++i) {
    COX_RETURN_IF_ERROR(DecodeEntry(entries.as_array()[i], i, &managers));
  }
  return managers;
}

namespace {

// Apply before Update, then by time, name, version and subresource.
std::vector<Managers::const_iterator> Sorted(const Managers& managers) {
  std::vector<Managers::const_iterator> sorted;
  for (auto it = managers.begin(); it != managers.end(); ++it) sorted.push_back(it);
  std::sort(sorted.begin(), sorted.end(), [](auto a, auto b) {
    auto key = [](auto it) {
      const auto& [id, owned] = *it;
      return std::tie(owned.time, id.manager, owned.api_version, id.subresource);
    };
    if (a->first.applies != b->first.applies) return a->first.applies;
    return key(a) < key(b);
  });
  return sorted;
}

}  // namespace

Value EncodeManagedFields(const Managers& managers) {
  Value::Array entries;
  for (auto it : Sorted(managers)) entries.push_back(EncodeEntry(it->first, it->second));
  return entries;
}

List<meta::v1::ManagedFieldsEntry> ManagedFieldsEntries(const Managers& managers) {
  List<meta::v1::ManagedFieldsEntry> entries;
  for (auto it : Sorted(managers)) {
    const auto& [id, owned] = *it;
    meta::v1::ManagedFieldsEntry& entry = entries.emplace_back();
    entry.manager = id.manager;
    entry.operation = id.applies ? "Apply" : "Update";
    entry.apiVersion = owned.api_version;
    if (Result<Time> time = Time::Parse(owned.time); time.ok()) entry.time = *time;
    entry.fieldsType = "FieldsV1";
    entry.fieldsV1 = RawJson{WriteFieldsV1(owned.fields)};
    entry.subresource = id.subresource;
  }
  return entries;
}

Result<Managers> ManagersOf(const Value& object) {
  const Value* entries = object.At({"metadata", kManagedFields});
  return entries != nullptr ? DecodeManagedFields(*entries) : Managers();
}

void DropManagedFields(Value* object) {
  Value* metadata = object->Find("metadata");
  if (metadata != nullptr && metadata->is_object()) metadata->as_object().Erase(kManagedFields);
}

void SetManagers(const Managers& managers, Value* object) {
  if (managers.empty()) return DropManagedFields(object);
  if (!object->is_object()) return;
  Value& metadata = object->as_object()["metadata"];
  if (!metadata.is_object()) metadata = Value::MakeObject();
  metadata.as_object()[kManagedFields] = EncodeManagedFields(managers);
}

bool IsReset(const Value& object) {
  const Value* entries = object.At({"metadata", kManagedFields});
  if (entries == nullptr || !entries->is_array()) return false;
  const Value::Array& list = entries->as_array();
  return list.empty() || (list.size() == 1 && list[0].is_object() && list[0].as_object().empty());
}

void CapUpdateManagers(Managers* managers, size_t limit) {
  std::vector<Managers::const_iterator> updating;
  for (auto it = managers->cbegin(); it != managers->cend(); ++it) {
    if (!it->first.applies) updating.push_back(it);
  }
  if (updating.size() <= limit) return;
  std::sort(updating.begin(), updating.end(), [](auto a, auto b) {
    return std::tie(a->second.time, a->first) < std::tie(b->second.time, b->first);
  });
  size_t count = updating.size();
  // A single manager of a version stays unchanged: merging starts with the second.
  std::map<std::string, ManagerId> first_of;
  for (size_t i = 0; i < updating.size() && count > limit; ++i) {
    ManagerId id = updating[i]->first;
    std::string version = updating[i]->second.api_version;
    auto [first, is_first] = first_of.try_emplace(version, id);
    if (is_first) continue;
    ManagerId ancient{std::string(kAncientChanges), false, version, ""};
    if (managers->find(ancient) == managers->end()) {
      auto node = managers->extract(first->second);
      node.key() = ancient;
      managers->insert(std::move(node));
    }
    if (id == ancient) continue;
    auto node = managers->extract(id);
    Ownership& together = (*managers)[ancient];
    together.fields = together.fields.Union(node.mapped().fields);
    together.time = node.mapped().time;
    --count;
  }
}

std::string ManagerName(std::string_view field_manager, std::string_view user_agent) {
  constexpr size_t kMaxBytes = 128;
  if (!field_manager.empty()) return std::string(field_manager);
  std::string_view program = Cut(user_agent, '/').before;
  std::string name;
  while (!program.empty()) {
    Rune rune = DecodeRune(program);
    if (name.size() + rune.size > kMaxBytes) break;
    if (rune.valid && IsPrintable(rune.value)) name += program.substr(0, rune.size);
    program.remove_prefix(rune.size);
  }
  return name;
}

}  // namespace cox::apply
