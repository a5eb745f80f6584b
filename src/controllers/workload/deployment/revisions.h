// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/apps/v1.h"

// The revision history of a deployment: its numbered ReplicaSets. Pure functions.
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

// A deployment's ReplicaSets: the one with the deployment's template (the oldest if there are
// several) and the others, oldest first.
struct ReplicaSets {
  SetPtr latest;  // null: none yet
  std::vector<SetPtr> old;

  std::vector<SetPtr> All() const;        // latest last
  std::vector<SetPtr> ActiveOld() const;  // with replicas > 0
  // Replaces the set with the same uid.
  void Replace(const SetPtr& set);
};
ReplicaSets Sort(const apps::v1::Deployment& deployment, std::vector<SetPtr> sets);

// 0 if there is none.
int64_t RevisionOf(const meta::v1::ObjectMeta& meta);
// The revision for the latest set: the highest of the others plus 1.
int64_t NextRevision(const std::vector<SetPtr>& old);

// The number in an annotation; nullopt if it is absent or invalid.
std::optional<int32_t> IntAnnotation(const meta::v1::ObjectMeta& meta, std::string_view name);
// Stores the deployment's replicas and replicas + maxSurge in the set. They distinguish scaling
// from a rollout and are the base of proportional scaling. Returns true if `set` changed.
bool SetReplicasAnnotations(apps::v1::ReplicaSet& set, int32_t desired, int32_t max);

// Copies the deployment's annotations to its latest set, except those that are specific to one
// object, and sets the revision; the previous revision is appended to the history. Returns true if
// `set` changed.
bool SetLatestAnnotations(const apps::v1::Deployment& deployment, apps::v1::ReplicaSet& set,
                          int64_t revision);

// Returns the sets beyond spec.revisionHistoryLimit, the lowest revision first. Sets that have
// Pods, or whose latest generation is not observed yet, are kept.
std::vector<SetPtr> SetsToDelete(const apps::v1::Deployment& deployment, std::vector<SetPtr> old);

}  // namespace cox::controllers::deployment
