// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/meta/v1.h"
#include "base/result.h"
#include "object/apply/updater.h"
#include "object/type/type.h"
#include "object/type/value.h"

namespace cox::apply {

// Tracks the field managers of objects of one kind. Every write to the API uses it.
//
//   FieldManager manager(Deployment::kType, {.api_version = "apps/v1", .kind = "Deployment"});
//   Result<Value> after = manager.Apply(live, patch, "kubectl", /*force=*/false, now);
//
// Guarantees: pure; results differ from the input only by the requested change and in
//   metadata.managedFields. No manager owns apiVersion, kind or server-managed metadata (name, uid,
//   resourceVersion, managedFields, ...).
// Threads: may be shared. Ownership: borrows types and versions, which must outlive it.
// `now` is the time of the write, in JSON format ("2026-01-02T03:04:05Z").
class FieldManager {
 public:
  struct Options {
    std::string api_version;  // of the objects passed to Apply and Update
    std::string kind;
    std::string subresource;  // through which they are written, or empty
    // Fields that cannot be set through this resource (spec when writing status), including all
    // fields below them.
    FieldSet reset_fields = {};
    // Other versions in which managers may write these objects; null: none.
    const Versions* versions = nullptr;
  };

  FieldManager(const Type& type, Options options);
  FieldManager(const FieldManager&) = delete;
  FieldManager& operator=(const FieldManager&) = delete;

  // Server-side apply of `patch` by `manager`. `live` is the stored object, or an empty object if
  // there is none yet. Fields of other managers are changed only if `force`.
  // Errors: Conflict with a cause for each field; BadRequest if the patch is of another kind or
  //   contains managedFields; an error without reason (500) if patch or object do not match the
  //   type.
  Result<Value> Apply(const Value& live, const Value& patch, std::string_view manager, bool force,
                      std::string_view now) const;

  // Any other write by `manager`: replaces `live` by `after`. Returns `after` with its managers.
  // The managedFields of `after` replace those of `live`; [] and [{}] remove all managers.
  // Errors: as Apply; a caller that must not fail because of them stores `after` without
  //   managedFields.
  Result<Value> Update(const Value& live, const Value& after, std::string_view manager,
                       std::string_view now) const;

  // The managers that Update writes, for callers that do not keep the object as a Value.
  Result<Managers> UpdateManagers(const Value& live, Value after, std::string_view manager,
                                  std::string_view now) const;
  // The managedFields of a new object without managedFields: those that UpdateManagers computes
  // with nothing() as the previous state. `object` is a struct of the manager's type. nullopt:
  // FieldsOfNewObject does not support the object. Call UpdateManagers for it.
  std::optional<List<meta::v1::ManagedFieldsEntry>> EntriesOfNewObject(const void* object,
                                                                       std::string_view manager,
                                                                       const Time& now) const;
  // The previous state of a new object: one without fields, in the representation of its struct.
  const Value& nothing() const { return nothing_; }

  // Adds the managed apiVersion and kind to `object`, because structs do not contain them.
  Value Named(Value object) const;

 private:
  Result<Managers> Track(const Value& live, const Value& after, Managers managers,
                         const ManagerId& manager, std::string_view now) const;
  Status AddFirstManager(const Value& live, Managers* managers, std::string_view now) const;
  Result<Managers> ManagersFor(const Value& live, const Value& after) const;
  Status CheckPatch(const Value& patch) const;
  bool MayOverride(const Value& live, const Conflicts& conflicts) const;
  void Strip(Managers* managers) const;
  ManagerId Id(std::string_view manager, bool applies) const;
  std::string Name(const Value& object) const;

  struct Deleter {
    const ItemOps* ops;
    void operator()(void* object) const { DeleteItem(*ops, object); }
  };

  const Type& type_;
  const Options options_;
  const std::unique_ptr<void, Deleter> zero_;  // a struct of the type; null: not a struct
  const Value nothing_;
  const FieldSet excluded_;  // these fields and those below them have no owner
  const OneVersion one_version_;
  const Updater updater_;
};

}  // namespace cox::apply
