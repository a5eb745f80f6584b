// SPDX-License-Identifier: Apache-2.0
#include "object/apply/updater.h"

#include <iterator>
#include <map>
#include <utility>

#include "object/apply/schema.h"

namespace cox::apply {
namespace {

// RemoveItems, but an empty result stays an object, because converters require one.
Result<Value> Without(Value object, const Type& type, const FieldSet& set) {
  COX_ASSIGN_OR_RETURN(Value left, RemoveItems(std::move(object), type, set));
  return left.is_null() ? Value::MakeObject() : std::move(left);
}

FieldSet FollowAt(const FieldSet& set, TypeRef ref) {
  FieldSet result;
  for (const FieldSet::Entry& e : set.entries()) {
    bool field = e.element.kind() == PathElement::Kind::kField;
    TypeRef below = field ? ref.Member(e.element.name()) : ref.Item();
    if (below.form() == Form::kAtomic) {
      result.Append(e.element, true, {});
    } else {
      result.Append(e.element, e.member, FollowAt(e.children, below));
    }
  }
  return result;
}

}  // namespace

FieldSet FollowType(const FieldSet& set, const Type& type) { return FollowAt(set, TypeRef(type)); }

// The changes of a write, and the conflicts with other managers.
struct Updater::Changes {
  Comparison comparison;  // in the writer's version
  Conflicts conflicts;
};

Updater::Updater(const Versions& versions, std::string version, FieldFilter filter)
    : versions_(versions), version_(std::move(version)), filter_(std::move(filter)) {}

Result<Comparison> Updater::CompareAt(const Value& before, const Value& after,
                                      std::string_view version) const {
  const Type& type = *versions_.TypeAt(version);
  Result<Comparison> comparison = Status::Internal("");
  if (version == version_) {
    comparison = Compare(before, after, type);
  } else {
    COX_ASSIGN_OR_RETURN(Value old_object, versions_.Convert(before, version));
    COX_ASSIGN_OR_RETURN(Value new_object, versions_.Convert(after, version));
    comparison = Compare(old_object, new_object, type);
  }
  if (!comparison.ok() || !filter_) return comparison;
  return Comparison{filter_(std::move(comparison->added)), filter_(std::move(comparison->modified)),
                    filter_(std::move(comparison->removed))};
}

// Removes the fields that `manager` changes from the other managers, and returns them.
Result<Updater::Changes> Updater::Takeover(const Value& before, const Value& after,
                                           Managers* managers, const ManagerId& manager) const {
  Changes changes;
  std::map<std::string, Comparison, std::less<>> by_version;  // for versions of other managers
  COX_ASSIGN_OR_RETURN(changes.comparison, CompareAt(before, after, version_));
  for (auto it = managers->begin(); it != managers->end();) {
    auto& [id, owned] = *it;
    if (id == manager) {
      ++it;
      continue;
    }
    const bool same_version = owned.api_version == version_;
    auto known = by_version.find(owned.api_version);
    if (!same_version && known == by_version.end()) {
      if (versions_.TypeAt(owned.api_version) == nullptr) {
        it = managers->erase(it);
        continue;
      }
      COX_ASSIGN_OR_RETURN(Comparison comparison, CompareAt(before, after, owned.api_version));
      known = by_version.emplace(owned.api_version, std::move(comparison)).first;
    }
    const Comparison& change = same_version ? changes.comparison : known->second;
    FieldSet taken = owned.fields.Intersection(change.modified.Union(change.added));
    owned.fields = std::move(owned.fields).Difference(taken).Difference(change.removed);
    if (!taken.Empty()) changes.conflicts.emplace(id, std::move(taken));
    it = owned.fields.Empty() ? managers->erase(it) : std::next(it);
  }
  return changes;
}

// `merged` without the fields that the manager applied before, except fields that still have an
// owner and fields below those that were not applied by the manager.
Result<Value> Updater::PruneDropped(Value merged, const Managers& managers,
                                    const Ownership& previous) const {
  const std::string& version = previous.api_version;
  const Type* type = versions_.TypeAt(version);
  // The version of the previous apply no longer exists, so its fields are unknown.
  if (type == nullptr || previous.fields.Empty()) return merged;
  COX_ASSIGN_OR_RETURN(Value whole, versions_.Convert(merged, version));
  COX_ASSIGN_OR_RETURN(Value pruned,
                       Without(whole, *type, WithNamedFields(previous.fields, *type)));

  // Restore owned fields, in each version in which managers write.
  std::map<std::string, FieldSet> owned_at;
  owned_at[version];
  for (const auto& [id, owned] : managers) {
    FieldSet& all = owned_at[owned.api_version];
    all = all.Union(owned.fields);
  }
  std::string at = version;
  for (const auto& [owned_version, owned] : owned_at) {
    const Type* owned_type = versions_.TypeAt(owned_version);
    if (owned_type == nullptr) continue;
    if (at != owned_version) {
      COX_ASSIGN_OR_RETURN(whole, versions_.Convert(whole, owned_version));
      COX_ASSIGN_OR_RETURN(pruned, versions_.Convert(pruned, owned_version));
      at = owned_version;
    }
    COX_ASSIGN_OR_RETURN(FieldSet all, ToFieldSet(whole, *owned_type));
    COX_ASSIGN_OR_RETURN(FieldSet kept, ToFieldSet(pruned, *owned_type));
    FieldSet wanted = WithNamedFields(kept, *owned_type).Union(WithNamedFields(owned, *owned_type));
    COX_ASSIGN_OR_RETURN(
        pruned, Without(whole, *owned_type, WithNamedFields(all, *owned_type).Difference(wanted)));
  }

  // Removing an item also removed fields below it that were defaulted and have no owner: remove
  // only fields that the manager had applied.
  if (at != version) {
    COX_ASSIGN_OR_RETURN(whole, versions_.Convert(whole, version));
    COX_ASSIGN_OR_RETURN(pruned, versions_.Convert(pruned, version));
  }
  COX_ASSIGN_OR_RETURN(FieldSet all, ToFieldSet(whole, *type));
  COX_ASSIGN_OR_RETURN(FieldSet kept, ToFieldSet(pruned, *type));
  FieldSet gone = WithNamedFields(all, *type)
                      .Difference(WithNamedFields(kept, *type))
                      .Intersection(WithNamedFields(previous.fields, *type));
  COX_ASSIGN_OR_RETURN(pruned, Without(whole, *type, gone));
  if (version == version_) return pruned;
  return versions_.Convert(pruned, version_);
}

void Updater::FollowTypes(Managers* managers) const {
  for (auto& [id, owned] : *managers) {
    // A version that no longer exists has no type; Takeover removes its managers.
    if (const Type* type = versions_.TypeAt(owned.api_version)) {
      owned.fields = FollowType(owned.fields, *type);
    }
  }
}

Result<Updater::Applied> Updater::Apply(const Value& live, const Value& config, Managers managers,
                                        const ManagerId& manager, Conflicts* conflicts) const {
  FollowTypes(&managers);
  const Type& type = *versions_.TypeAt(version_);
  COX_ASSIGN_OR_RETURN(Value object, Merge(live, config, type));
  COX_ASSIGN_OR_RETURN(FieldSet fields, ToFieldSet(config, type));
  if (filter_) fields = filter_(std::move(fields));

  Ownership previous;
  if (auto known = managers.find(manager); known != managers.end()) previous = known->second;
  managers[manager] = Ownership{std::move(fields), version_, previous.time};
  COX_ASSIGN_OR_RETURN(object, PruneDropped(std::move(object), managers, previous));
  COX_ASSIGN_OR_RETURN(Changes changes, Takeover(live, object, &managers, manager));
  if (auto own = managers.find(manager); own != managers.end() && own->second.fields.Empty()) {
    managers.erase(own);
  }
  *conflicts = std::move(changes.conflicts);
  Applied applied;
  applied.managers = std::move(managers);
  if (object != live) applied.object = std::move(object);
  return applied;
}

Result<Updater::Applied> Updater::Apply(const Value& live, const Value& config, Managers managers,
                                        const ManagerId& manager, bool force) const {
  Conflicts conflicts;
  COX_ASSIGN_OR_RETURN(Applied applied,
                       Apply(live, config, std::move(managers), manager, &conflicts));
  if (!force && !conflicts.empty()) return ConflictStatus(conflicts);
  return applied;
}

Result<Managers> Updater::Update(const Value& live, const Value& after, Managers managers,
                                 const ManagerId& manager) const {
  FollowTypes(&managers);
  COX_ASSIGN_OR_RETURN(Changes changes, Takeover(live, after, &managers, manager));
  Comparison& change = changes.comparison;
  Ownership& own = managers[manager];
  own.fields = std::move(own.fields)
                   .Difference(change.removed)
                   .Union(std::move(change.modified))
                   .Union(std::move(change.added));
  own.api_version = version_;
  if (own.fields.Empty()) managers.erase(manager);
  return managers;
}

}  // namespace cox::apply
