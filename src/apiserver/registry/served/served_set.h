// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/served/served.h"

namespace cox::apiserver {

// Everything that the API serves at one moment, by group. When a kind is added, changed or removed,
// a new set replaces the old one; the two share the groups that have not changed.
//
// Threads: immutable.
// Ownership: keeps its resources alive. A request keeps the set, or the resource, that it started
//   with.
class ServedSet {
 public:
  using Groups = std::map<std::string, std::shared_ptr<const ServedGroup>, std::less<>>;

  explicit ServedSet(std::span<const ServedKind> kinds);
  explicit ServedSet(Groups groups) : groups_(std::move(groups)) {}

  const Groups& groups() const { return groups_; }
  // The groups in the order of discovery: first the built-in ones, then the others by name.
  std::vector<std::shared_ptr<const ServedGroup>> InDiscoveryOrder() const;

  // The kind at a path; null if it is not served. Some are not stored: reviews and bindings.
  const ServedKind* Find(std::string_view group, std::string_view version,
                         std::string_view plural) const;
  // The same, by kind name instead of plural.
  const ServedKind* FindKind(std::string_view group, std::string_view version,
                             std::string_view kind) const;

 private:
  Groups groups_;
};
using ServedSetPtr = std::shared_ptr<const ServedSet>;

// Returns the set that is served now. Callers that cache data derived from a set call this for each
// request and compare pointers: data from another set is out of date.
using CurrentServedSet = std::function<ServedSetPtr()>;

}  // namespace cox::apiserver
