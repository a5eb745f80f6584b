// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <string>

#include "object/apply/field_set.h"

namespace cox::apply {

// The identity of a field manager.
struct ManagerId {
  std::string manager;   // "kubectl"
  bool applies = false;  // Apply operation; otherwise Update (create, update or another patch)
  std::string
      api_version;  // of its writes; empty for Apply, where a manager is the same across versions
  std::string subresource;  // through which it writes, or empty

  bool operator==(const ManagerId&) const = default;
  // The order of managers in conflicts: by name; Apply before Update; by version; managers with a
  // subresource first.
  std::strong_ordering operator<=>(const ManagerId& other) const;

  // `"kubectl" with subresource "scale" using apps/v1`: the text in conflicts.
  std::string Text() const;
};

// The fields that a manager owns.
struct Ownership {
  FieldSet fields;
  std::string api_version;  // the version of `fields`
  std::string time;         // of the last change, in JSON format; empty: unknown

  bool operator==(const Ownership&) const = default;
};

using Managers = std::map<ManagerId, Ownership>;

}  // namespace cox::apply
