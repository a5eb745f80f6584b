// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/served/served_set.h"

#include <algorithm>
#include <utility>

namespace cox::apiserver {

ServedSet::ServedSet(std::span<const ServedKind> kinds) {
  for (ServedGroup& group : GroupsOf(kinds)) {
    std::string name = group.name();
    groups_.emplace(std::move(name), std::make_shared<const ServedGroup>(std::move(group)));
  }
}

std::vector<std::shared_ptr<const ServedGroup>> ServedSet::InDiscoveryOrder() const {
  std::vector<std::shared_ptr<const ServedGroup>> ordered;
  ordered.reserve(groups_.size());
  for (const auto& [name, group] : groups_) ordered.push_back(group);
  std::sort(ordered.begin(), ordered.end(),
            [](const auto& a, const auto& b) { return GroupBefore(a->name(), b->name()); });
  return ordered;
}

const ServedKind* ServedSet::Find(std::string_view group, std::string_view version,
                                  std::string_view plural) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? nullptr : found->second->Find(version, plural);
}

const ServedKind* ServedSet::FindKind(std::string_view group, std::string_view version,
                                      std::string_view kind) const {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return nullptr;
  for (const ServedKind& served : found->second->kinds()) {
    if (served.kind->version == version && served.kind->kind == kind) return &served;
  }
  return nullptr;
}

}  // namespace cox::apiserver
