// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/apply/updater.h"
#include "object/type/type.h"
#include "object/type/value.h"

namespace cox::apply {

// Keeps the field managers of objects of one kind: what every write to the API passes through.
//
//   FieldManager manager(Deployment::kType, {.api_version = "apps/v1", .kind = "Deployment"});
//   Result<Value> after = manager.Apply(live, patch, "kubectl", /*force=*/false, now);
//
// Guarantees: pure; results differ from the input only in what was asked and in
//   metadata.managedFields. No manager owns apiVersion, kind or what the server keeps in metadata
//   (name, uid, resourceVersion, managedFields, ...).
// Threads: may be shared. Ownership: borrows types and versions, which must outlive it.
// Time: `now` is the moment of the write, as in JSON ("2026-01-02T03:04:05Z").
class FieldManager {
 public:
  struct Options {
    std::string api_version;  // of the objects given to Apply and Update
    std::string kind;
    std::string subresource;  // through which they come, or empty
    // Fields that this resource does not let anybody set (spec when writing status), with all
    // below.
    FieldSet reset_fields = {};
    // The other versions that managers of these objects may write; null: none.
    const Versions* versions = nullptr;
  };

  FieldManager(const Type& type, Options options);
  FieldManager(const FieldManager&) = delete;
  FieldManager& operator=(const FieldManager&) = delete;

  // Server-side apply of `patch` by `manager`. `live` is the stored object, or one without fields
  // when there is none yet. Fields that others own are changed only if `force`. Errors: Conflict
  // with a cause for each field; BadRequest if the patch is of another kind or brings
  //   managedFields; an error without reason (500) if patch or object do not fit the type.
  Result<Value> Apply(const Value& live, const Value& patch, std::string_view manager, bool force,
                      std::string_view now) const;

  // Any other write by `manager`: `live` becomes `after`. Returns `after` with its managers.
  // managedFields of `after` replace those of `live`; [] and [{}] forget all.
  // Errors: as Apply; a caller that must not fail for them stores `after` without managedFields.
  Result<Value> Update(const Value& live, const Value& after, std::string_view manager,
                       std::string_view now) const;

  // The managers that Update writes, for those who keep the object elsewhere.
  Result<Managers> UpdateManagers(const Value& live, Value after, std::string_view manager,
                                  std::string_view now) const;
  // What a new object was before: one without fields, as its struct shows it.
  const Value& nothing() const { return nothing_; }

  // `object` with the apiVersion and kind of the objects managed here, which structs do not hold.
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

  const Type& type_;
  const Options options_;
  const Value nothing_;
  const OneVersion one_version_;
  const Updater updater_;
};

}  // namespace cox::apply
