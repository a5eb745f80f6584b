// SPDX-License-Identifier: Apache-2.0
#include "object/patch/merge_patch.h"

#include <string>
#include <utility>
#include <vector>

#include "object/patch/depth.h"
#include "object/type/limits.h"

namespace cox::patch {
namespace {

// Removes nulls from the objects in `value`, at any depth.
void DropNulls(Value& value) {
  std::vector<Value*> work = {&value};
  while (!work.empty()) {
    Value* at = work.back();
    work.pop_back();
    if (at->is_array()) {
      for (Value& item : at->as_array()) work.push_back(&item);
    } else if (at->is_object()) {
      Value::Object kept;
      for (auto& [key, member] : at->as_object()) {
        if (!member.is_null()) kept.Append(std::move(key), std::move(member));
      }
      at->as_object() = std::move(kept);  // still sorted
      for (auto& [key, member] : at->as_object()) work.push_back(&member);
    }
  }
}

// Merges the members of `patch` into `target`, except for the contents of objects.
void LayOver(Value::Object& target, const Value::Object& patch) {
  for (const auto& [key, value] : patch) {
    if (value.is_null()) {
      target.Erase(key);
      continue;
    }
    Value& member = target[key];
    if (value.is_object()) {
      if (!member.is_object()) member = Value::MakeObject();  // the caller merges it
      continue;
    }
    // Nulls in arrays are dropped too, except (as in the API server) if the array replaces an
    // object.
    bool keeps_nulls = member.is_object();
    member = value;
    if (!keeps_nulls) DropNulls(member);
  }
}

Status RequireObject(const Value& document) {
  if (document.is_object() || document.is_null()) return {};
  return Status::BadRequest("Invalid JSON Document");
}

const Value::Object& Members(const Value& document) {
  static const Value::Object none;
  return document.is_object() ? document.as_object() : none;
}

Value::Object Diff(const Value::Object& original, const Value::Object& modified) {
  Value::Object patch;
  for (const auto& [key, value] : modified) {
    const Value* old = original.Find(key);
    if (old != nullptr && old->is_object() && value.is_object()) {
      Value::Object below = Diff(old->as_object(), value.as_object());
      if (!below.empty()) patch.Append(key, Value(std::move(below)));
    } else if (old == nullptr || *old != value) {
      patch.Append(key, value);
    }
  }
  for (const auto& [key, value] : original) {
    if (!modified.contains(key)) patch.Append(key, nullptr);
  }
  patch.Seal();
  return patch;
}

// The removals of a patch: its nulls and the objects around them.
Value::Object Removals(const Value::Object& patch) {
  Value::Object kept;
  for (const auto& [key, value] : patch) {
    if (value.is_null()) {
      kept.Append(key, nullptr);
    } else if (value.is_object()) {
      Value::Object below = Removals(value.as_object());
      if (!below.empty()) kept.Append(key, Value(std::move(below)));
    }
  }
  return kept;
}

// The additions and changes. An object that contained only nulls is dropped, an empty one stays.
Value::Object Changes(const Value::Object& patch) {
  Value::Object kept;
  for (const auto& [key, value] : patch) {
    if (value.is_null()) continue;
    if (value.is_object() && !value.as_object().empty()) {
      Value::Object below = Changes(value.as_object());
      if (!below.empty()) kept.Append(key, Value(std::move(below)));
      continue;
    }
    kept.Append(key, value);
    DropNulls(*kept.Find(key));
  }
  return kept;
}

// Merges one patch into another: like applying it, but removals stay removals.
void Combine(Value::Object& first, const Value::Object& second) {
  for (const auto& [key, value] : second) {
    Value& member = first[key];
    if (value.is_object() && member.is_object()) {
      Combine(member.as_object(), value.as_object());
    } else {
      member = value;
    }
  }
}

}  // namespace

Result<Value> ApplyMergePatch(Value document, const Value& patch) {
  if (!patch.is_object()) return Status::BadRequest("Invalid JSON Patch");
  if (document.is_null()) return Status::BadRequest("Invalid JSON Document");
  if (!document.is_object()) document = Value::MakeObject();

  struct Pair {
    Value::Object* target;
    const Value::Object* patch;
  };
  std::vector<Pair> work = {{&document.as_object(), &patch.as_object()}};
  while (!work.empty()) {
    Pair at = work.back();
    work.pop_back();
    LayOver(*at.target, *at.patch);
    // Descend only now, because the target's members do not move any more.
    for (const auto& [key, value] : *at.patch) {
      if (value.is_object())
        work.push_back({&at.target->Find(key)->as_object(), &value.as_object()});
    }
  }
  return document;
}

Result<Value> CreateMergePatch(const Value& original, const Value& modified) {
  COX_RETURN_IF_ERROR(RequireObject(original));
  COX_RETURN_IF_ERROR(RequireObject(modified));
  if (DeeperThan(modified, limits::kMaxTypedDepth)) return Status::BadRequest("exceeded max depth");
  return Value(Diff(Members(original), Members(modified)));
}

Result<Value> CreateThreeWayMergePatch(const Value& original, const Value& modified,
                                       const Value& current,
                                       std::span<const Precondition> preconditions) {
  COX_ASSIGN_OR_RETURN(Value changes, CreateMergePatch(current, modified));
  COX_ASSIGN_OR_RETURN(Value removals, CreateMergePatch(original, modified));
  Value::Object combined = Removals(removals.as_object());
  Combine(combined, Changes(changes.as_object()));
  Value patch(std::move(combined));
  COX_RETURN_IF_ERROR(CheckPreconditions(patch, preconditions));
  return patch;
}

}  // namespace cox::patch
