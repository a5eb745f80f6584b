// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <string>

#include "object/apply/field_set.h"

namespace cox::apply {

// Who owns fields: one writer, told apart by how it writes.
struct ManagerId {
  std::string manager;   // "kubectl"
  bool applies = false;  // by server-side apply; else by create, update or another patch
  std::string
      api_version;  // that it writes; empty for those who apply: they are one across versions
  std::string subresource;  // through which it writes, or empty

  bool operator==(const ManagerId&) const = default;
  // The order in which conflicts list managers: by name; those who apply first; by version; those
  // with a subresource first.
  std::strong_ordering operator<=>(const ManagerId& other) const;

  // `"kubectl" with subresource "scale" using apps/v1`: how conflicts call it.
  std::string Text() const;
};

// What a manager owns.
struct Ownership {
  FieldSet fields;
  std::string api_version;  // in whose terms `fields` are
  std::string time;         // of the last change, as in JSON; empty: not known

  bool operator==(const Ownership&) const = default;
};

using Managers = std::map<ManagerId, Ownership>;

}  // namespace cox::apply
