// SPDX-License-Identifier: Apache-2.0
#include "object/apply/field_manager.h"

#include <utility>

#include "object/apply/managed_fields.h"
#include "object/apply/new_object.h"
#include "object/apply/typed.h"
#include "object/codec/json/json.h"
#include "object/type/limits.h"

namespace cox::apply {
namespace {

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// The identity of the object and server-managed metadata. Neither these fields nor those below them
// have an owner.
const FieldSet& ServerFields() {
  static const FieldSet kSet = [] {
    FieldSet set;
    auto field = [](std::string_view name) { return PathElement::Field(name); };
    for (std::string_view name : {"apiVersion", "kind"}) set.Insert(Path{field(name)});
    for (std::string_view name :
         {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
          "managedFields", "resourceVersion"}) {
      set.Insert(Path{field("metadata"), field(name)});
    }
    return set;
  }();
  return kSet;
}

// Fields without owner; those below them may have one.
const FieldSet& NeverOwned() {
  static const FieldSet kSet = ServerFields().Union(FieldSet{{PathElement::Field("metadata")}});
  return kSet;
}

std::string_view TextAt(const Value& object, std::initializer_list<std::string_view> path) {
  const Value* value = object.At(path);
  return value != nullptr && value->is_string() ? value->as_string() : std::string_view();
}

// "apps/v1, Kind=Deployment"; the core group is empty.
std::string KindText(std::string_view api_version, std::string_view kind) {
  std::string text;
  if (api_version.find('/') == std::string_view::npos) text += '/';
  text += api_version;
  text += ", Kind=";
  text += kind;
  return text;
}

// Errors that the API reports as 500 without a reason.
Status Failure(std::string_view what, const std::string& name, const Status& status) {
  return Status(Reason::kUnknown, std::string(what) + " (" + name + ")" + status.message());
}

std::string_view LastApplied(const Value& object) {
  return TextAt(object, {"metadata", "annotations", kLastApplied});
}

// Updates the annotation of client-side apply, if it exists, as upstream.
void RenewLastApplied(const Value& live, const Value& patch, Value* object) {
  if (LastApplied(live).empty()) return;
  Value* metadata = object->Find("metadata");
  Value* annotations = metadata != nullptr ? metadata->Find("annotations") : nullptr;
  if (annotations == nullptr || !annotations->is_object()) return;
  std::string text = json::Write(patch) + "\n";
  size_t total = text.size() + kLastApplied.size();
  for (const auto& [key, value] : annotations->as_object()) {
    if (key != kLastApplied && value.is_string()) total += key.size() + value.as_string().size();
  }
  if (total > limits::kMaxAnnotationBytes) text.clear();
  annotations->as_object()[kLastApplied] = Value(text);
}

FieldFilter Without(const FieldSet& excluded) {
  if (excluded.Empty()) return nullptr;
  return [excluded](FieldSet set) { return std::move(set).RecursiveDifference(excluded); };
}

}  // namespace

FieldManager::FieldManager(const Type& type, Options options)
    : type_(type),
      options_(std::move(options)),
      zero_(type.struct_ops == nullptr ? nullptr : NewItem(*type.struct_ops),
            Deleter{type.struct_ops}),
      // The JSON of a struct has some fields even if none is set.
      nothing_(Named(zero_ == nullptr ? Value::MakeObject() : json::ToValue(type, zero_.get()))),
      excluded_(ServerFields().Union(options_.reset_fields)),
      one_version_(type, options_.api_version),
      updater_(options_.versions != nullptr ? *options_.versions : one_version_,
               options_.api_version, Without(options_.reset_fields)) {}

ManagerId FieldManager::Id(std::string_view manager, bool applies) const {
  return ManagerId{std::string(manager.empty() ? "unknown" : manager), applies,
                   applies ? "" : options_.api_version, options_.subresource};
}

Value FieldManager::Named(Value object) const {
  object.as_object()["apiVersion"] = options_.api_version;
  object.as_object()["kind"] = options_.kind;
  return object;
}

std::string FieldManager::Name(const Value& object) const {
  return std::string(TextAt(object, {"metadata", "namespace"})) + "/" +
         std::string(TextAt(object, {"metadata", "name"})) + "; " +
         KindText(options_.api_version, options_.kind);
}

void FieldManager::Strip(Managers* managers) const {
  for (auto it = managers->begin(); it != managers->end();) {
    it->second.fields = std::move(it->second.fields).Difference(NeverOwned());
    it = it->second.fields.Empty() ? managers->erase(it) : std::next(it);
  }
}

// The managers after `live` became `after`. Only a manager whose fields changed gets a new time.
Result<Managers> FieldManager::Track(const Value& live, const Value& after, Managers managers,
                                     const ManagerId& manager, std::string_view now) const {
  if (Status s = Validate(after, type_, Duplicates::kAllow); !s.ok()) {
    return Failure("failed to convert new object", Name(after),
                   Status(s.reason(), " to smd typed: " + s.message()));
  }
  if (Status s = Validate(live, type_, Duplicates::kAllow); !s.ok()) {
    return Failure("failed to convert live object", Name(live),
                   Status(s.reason(), " to smd typed: " + s.message()));
  }
  // Track this write as a separate manager, to distinguish it from earlier writes of the manager.
  ManagerId self{"", false, "", "current operation"};
  COX_ASSIGN_OR_RETURN(managers, updater_.Update(live, after, std::move(managers), self));
  Strip(&managers);
  auto written = managers.extract(self);
  if (written.empty()) return managers;
  Ownership& owned = managers[manager];
  owned.fields = std::move(owned.fields).Union(std::move(written.mapped().fields));
  owned.api_version = options_.api_version;
  owned.time = now;
  return managers;
}

Result<Managers> FieldManager::ManagersFor(const Value& live, const Value& after) const {
  // A write of a subresource does not change the ownership of the whole object.
  bool from_live = !options_.subresource.empty();
  if (!from_live && IsReset(after)) return Managers();
  if (!from_live) {
    Result<Managers> given = ManagersOf(after);
    if (given.ok() && !given->empty()) return given;
  }
  // Clients without support for managedFields omit them; that must not remove the managers.
  Result<Managers> stored = ManagersOf(live);
  return stored.ok() ? stored : Managers();
}

Result<Value> FieldManager::Update(const Value& live, const Value& after, std::string_view manager,
                                   std::string_view now) const {
  COX_ASSIGN_OR_RETURN(const Managers managers, UpdateManagers(live, after, manager, now));
  Value result = after;
  SetManagers(managers, &result);
  return result;
}

Result<Managers> FieldManager::UpdateManagers(const Value& live, Value after,
                                              std::string_view manager,
                                              std::string_view now) const {
  COX_ASSIGN_OR_RETURN(Managers managers, ManagersFor(live, after));
  // An object stored without managers stays so until the first apply.
  bool stored = !TextAt(live, {"metadata", "uid"}).empty();
  if (managers.empty() && stored) return managers;
  DropManagedFields(&after);
  const Value* before = &live;
  Value stripped;
  if (live.At({"metadata", "managedFields"}) != nullptr) {
    stripped = live;
    DropManagedFields(&stripped);
    before = &stripped;
  }
  COX_ASSIGN_OR_RETURN(managers,
                       Track(*before, after, std::move(managers), Id(manager, false), now));
  CapUpdateManagers(&managers);
  return managers;
}

std::optional<List<meta::v1::ManagedFieldsEntry>> FieldManager::EntriesOfNewObject(
    const void* object, std::string_view manager, const Time& now) const {
  if (zero_ == nullptr) return std::nullopt;
  std::optional<std::string> fields = FieldsOfNewObject(type_, object, zero_.get(), excluded_);
  if (!fields) return std::nullopt;
  List<meta::v1::ManagedFieldsEntry> entries;
  if (*fields == "{}") return entries;
  ManagerId id = Id(manager, false);
  meta::v1::ManagedFieldsEntry& entry = entries.emplace_back();
  entry.manager = std::move(id.manager);
  entry.operation = "Update";
  entry.apiVersion = options_.api_version;
  entry.time = now;
  entry.fieldsType = "FieldsV1";
  entry.fieldsV1 = RawJson{*std::move(fields)};
  entry.subresource = std::move(id.subresource);
  return entries;
}

Status FieldManager::CheckPatch(const Value& patch) const {
  std::string_view api_version = TextAt(patch, {"apiVersion"});
  std::string_view kind = TextAt(patch, {"kind"});
  if (api_version != options_.api_version || kind != options_.kind) {
    return Status::BadRequest("invalid object type: " + KindText(api_version, kind));
  }
  const Value* entries = patch.At({"metadata", "managedFields"});
  if (entries != nullptr && !entries->is_null()) {
    return Status::BadRequest("metadata.managedFields must be nil");
  }
  return Status();
}

// Fields from before the first apply belong to the manager "before-first-apply".
Status FieldManager::AddFirstManager(const Value& live, Managers* managers,
                                     std::string_view now) const {
  if (!managers->empty()) return Status();
  ManagerId first{"before-first-apply", false, options_.api_version, options_.subresource};
  Result<Managers> tracked = Track(nothing_, live, {}, first, now);
  if (!tracked.ok()) {
    return Status(Reason::kUnknown,
                  "failed to create manager for existing fields: " + tracked.status().message());
  }
  *managers = std::move(*tracked);
  return Status();
}

// Whether kubectl, when it migrates an object from client-side to server-side apply, conflicts only
// with its own writes: fields that still have the value in its annotation.
bool FieldManager::MayOverride(const Value& live, const Conflicts& conflicts) const {
  std::string_view text = LastApplied(live);
  if (text.empty()) return false;
  Result<Value> last = json::Parse(text);
  if (!last.ok() || TextAt(*last, {"apiVersion"}) != options_.api_version) return false;
  if (!Validate(*last, type_).ok()) return false;
  Result<FieldSet> wrote = ToFieldSet(*last, type_);
  Result<Comparison> since = Compare(*last, live, type_);
  if (!wrote.ok() || !since.ok()) return false;
  FieldSet unchanged = wrote->Difference(since->modified.Union(since->added).Union(since->removed));
  for (const auto& [id, fields] : conflicts) {
    if (!fields.Difference(unchanged).Empty()) return false;
  }
  return true;
}

Result<Value> FieldManager::Apply(const Value& live, const Value& patch, std::string_view manager,
                                  bool force, std::string_view now) const {
  COX_RETURN_IF_ERROR(CheckPatch(patch));
  Result<Managers> stored = ManagersOf(live);
  if (!stored.ok()) {
    return Status(Reason::kUnknown,
                  "failed to decode managed fields: " + stored.status().message());
  }
  Managers managers = std::move(*stored);
  Value before = live;
  DropManagedFields(&before);
  COX_RETURN_IF_ERROR(AddFirstManager(before, &managers, now));
  if (Status s = Validate(patch, type_); !s.ok()) {
    return Failure("failed to create typed patch object", Name(patch),
                   Status(s.reason(), ": " + s.message()));
  }
  if (Status s = Validate(before, type_, Duplicates::kAllow); !s.ok()) {
    return Failure("failed to create typed live object", Name(before),
                   Status(s.reason(), ": " + s.message()));
  }

  ManagerId id = Id(manager, true);
  Conflicts conflicts;
  COX_ASSIGN_OR_RETURN(Updater::Applied applied,
                       updater_.Apply(before, patch, std::move(managers), id, &conflicts));
  bool kubectl = id.manager == "kubectl";
  if (!force && !conflicts.empty() && !(kubectl && MayOverride(before, conflicts))) {
    return ConflictStatus(conflicts);
  }
  Strip(&applied.managers);
  auto own = applied.managers.find(id);
  if (applied.object && own != applied.managers.end()) own->second.time = now;
  Value result = applied.object ? std::move(*applied.object) : before;
  if (kubectl) RenewLastApplied(before, patch, &result);
  SetManagers(applied.managers, &result);
  return result;
}

}  // namespace cox::apply
