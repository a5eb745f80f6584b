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

// The merge of one writer's wishes into an object that others write too: who owns what before and
// after, what changes, and who is in the way. Knows nothing of metadata; see field_manager.h for
// the front that does.
namespace cox::apply {

// The versions in which an object can be read. Managers own fields in the terms of the version they
// write, so ownership is compared in each of them.
class Versions {
 public:
  virtual ~Versions() = default;
  // The type of objects at `version`, or null if there is no such version (any more): the managers
  // that write it are forgotten.
  virtual const Type* TypeAt(std::string_view version) const = 0;
  virtual Result<Value> Convert(const Value& object, std::string_view version) const = 0;
};

// An object that has one version.
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

// Takes from a set what nobody may own through this resource (see FieldManager::Options).
using FieldFilter = std::function<FieldSet(FieldSet)>;

// Guarantees: pure; the same input gives the same result.
// Threads: may be shared if `versions` and `filter` may. Errors: what Convert and typed.h report.
class Updater {
 public:
  // `version` is the one that the objects below are in. REQUIRES: versions.TypeAt(version).
  Updater(const Versions& versions, std::string version, FieldFilter filter = nullptr);

  // The object that follows from applying `config` to `live`: with what the manager sets now,
  // without what it set last time and nobody owns any more.
  struct Applied {
    std::optional<Value> object;  // none when `live` is already as wished
    Managers managers;
  };
  // Conflict, unless `force`, when other managers own what would change.
  Result<Applied> Apply(const Value& live, const Value& config, Managers managers,
                        const ManagerId& manager, bool force) const;
  // As Apply, but leaves it to the caller to turn conflicts into an error: fills `conflicts` and
  // succeeds with the forced result.
  Result<Applied> Apply(const Value& live, const Value& config, Managers managers,
                        const ManagerId& manager, Conflicts* conflicts) const;

  // The managers after `live` was replaced by `after`: what changed is the manager's now.
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

// `set` after a change of the type: where something became atomic, paths below it become the path
// to it.
FieldSet FollowType(const FieldSet& set, const Type& type);

}  // namespace cox::apply
