// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/apps/v1.h"

// The history of a deployment: its ReplicaSets, numbered. Pure functions.
namespace cox::controllers::deployment {

using SetPtr = std::shared_ptr<const apps::v1::ReplicaSet>;

inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";

inline int32_t SizeOf(const apps::v1::ReplicaSet& set) { return set.spec.replicas.value_or(0); }
inline int32_t SizeOf(const apps::v1::Deployment& deployment) {
  return deployment.spec.replicas.value_or(1);
}

// A deployment's ReplicaSets: the one with the deployment's template (the oldest, where several
// have it), and the others by age, oldest first.
struct ReplicaSets {
  SetPtr latest;  // null: none yet
  std::vector<SetPtr> old;

  std::vector<SetPtr> All() const;        // latest last
  std::vector<SetPtr> ActiveOld() const;  // that want Pods
  // Puts a newer version in the place of the same set.
  void Replace(const SetPtr& set);
};
ReplicaSets Sort(const apps::v1::Deployment& deployment, std::vector<SetPtr> sets);

// 0 if it has none.
int64_t RevisionOf(const meta::v1::ObjectMeta& meta);
// What the latest set gets: one more than any other has.
int64_t NextRevision(const std::vector<SetPtr>& old);

// The number in an annotation; none if it is absent or no number.
std::optional<int32_t> IntAnnotation(const meta::v1::ObjectMeta& meta, std::string_view name);
// How many the deployment wants, and how many there may be at once, kept with each set: it tells a
// change of size from a rollout, and is the base of proportions. True if that changed anything.
bool SetReplicasAnnotations(apps::v1::ReplicaSet& set, int32_t desired, int32_t max);

// Copies the deployment's annotations to its latest set, but for those that speak of one of them
// alone, and sets the revision, with the former one kept in the history. True if that changed
// anything.
bool SetLatestAnnotations(const apps::v1::Deployment& deployment, apps::v1::ReplicaSet& set,
                          int64_t revision);

// Those that spec.revisionHistoryLimit leaves no room for, the oldest revision first. Sets that
// have Pods, or whose controller has not seen their last change, are kept.
std::vector<SetPtr> SetsToDelete(const apps::v1::Deployment& deployment, std::vector<SetPtr> old);

}  // namespace cox::controllers::deployment
