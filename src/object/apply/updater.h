// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/apply/conflict.h"
#include "object/apply/managers.h"
#include "object/apply/typed.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Merges the write of one manager into an object with several managers: computes ownership before
// and after, changes and conflicts. It does not handle metadata; see field_manager.h for that.
namespace cox::apply {

// The versions of an object. Managers own fields in the version in which they write, so ownership
// is compared in each of these versions.
class Versions {
 public:
  virtual ~Versions() = default;
  // The type of objects at `version`, or null if the version does not exist (any more): the
  // managers of that version are removed.
  virtual const Type* TypeAt(std::string_view version) const = 0;
  virtual Result<Value> Convert(const Value& object, std::string_view version) const = 0;
};

// An object with a single version.
class OneVersion final : public Versions {
 public:
  OneVersion(const Type& type, std::string version) : type_(type), version_(std::move(version)) {}
  const Type* TypeAt(std::string_view version) const override {
    return version == version_ ? &type_ : nullptr;
  }
  Result<Value> Convert(const Value& object, std::string_view) const override { return object; }

 private:
  const Type& type_;
  const std::string version_;
};

// Removes the fields from a set that cannot be owned through this resource (see
// FieldManager::Options).
using FieldFilter = std::function<FieldSet(FieldSet)>;

// Guarantees: pure; the same input gives the same result.
// Threads: may be shared if `versions` and `filter` may. Errors: those of Convert and typed.h.
class Updater {
 public:
  // `version` is the version of the objects below. REQUIRES: versions.TypeAt(version).
  Updater(const Versions& versions, std::string version, FieldFilter filter = nullptr);

  // The result of applying `config` to `live`: fields of `config` are set, and fields that the
  // manager applied before and that have no owner any more are removed.
  struct Applied {
    std::optional<Value> object;  // none if `live` does not change
    Managers managers;
  };
  // Errors: Conflict, unless `force`, if other managers own fields that would change.
  Result<Applied> Apply(const Value& live, const Value& config, Managers managers,
                        const ManagerId& manager, bool force) const;
  // Like Apply above, but without an error: fills `conflicts` and returns the forced result.
  Result<Applied> Apply(const Value& live, const Value& config, Managers managers,
                        const ManagerId& manager, Conflicts* conflicts) const;

  // The managers after `live` was replaced by `after`: `manager` owns the changed fields.
  Result<Managers> Update(const Value& live, const Value& after, Managers managers,
                          const ManagerId& manager) const;

 private:
  struct Changes;

  Result<Changes> Takeover(const Value& before, const Value& after, Managers* managers,
                           const ManagerId& manager) const;
  Result<Value> PruneDropped(Value merged, const Managers& managers,
                             const Ownership& previous) const;
  void FollowTypes(Managers* managers) const;
  Result<Comparison> CompareAt(const Value& before, const Value& after,
                               std::string_view version) const;

  const Versions& versions_;
  const std::string version_;
  const FieldFilter filter_;
};

// Adapts `set` to a changed type: paths below a field that became atomic are replaced by the path
// of that field.
FieldSet FollowType(const FieldSet& set, const Type& type);

}  // namespace cox::apply
