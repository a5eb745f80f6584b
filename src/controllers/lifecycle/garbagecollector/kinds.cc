// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/garbagecollector/kinds.h"

namespace cox::controllers::gc {
namespace {

bool IsEvents(const Resource& resource) {
  return resource.plural == "events" &&
         (resource.gvk.group.empty() || resource.gvk.group == "events.k8s.io");
}

}  // namespace

std::vector<Resource> Watchable(const ServedResources& served) {
  std::vector<Resource> out;
  for (const ServedResource& one : served.resources) {
    const bool can = one.Can("delete") && one.Can("list") && one.Can("watch");
    if (one.preferred && can && !IsEvents(one.resource)) out.push_back(one.resource);
  }
  return out;
}

void Kinds::Replace(const ServedResources& served) {
  std::map<GroupVersionKind, Resource> known;
  for (const ServedResource& one : served.resources) {
    known.emplace(one.resource.gvk, one.resource);
  }
  MutexLock lock(mu_);
  // Kinds of groups whose discovery failed stay known.
  for (const auto& [version, why] : served.failed) {
    for (auto& [gvk, resource] : known_) {
      if (gvk.group_version() == version) known.emplace(gvk, resource);
    }
  }
  known_ = std::move(known);
}

Result<Resource> Kinds::Find(const GroupVersionKind& gvk) const {
  MutexLock lock(mu_);
  const auto found = known_.find(gvk);
  if (found == known_.end()) {
    return Status::Internal("no matches for kind \"" + gvk.kind + "\" in version \"" +
                            gvk.group_version().ToString() + "\"");
  }
  return found->second;
}

}  // namespace cox::controllers::gc
