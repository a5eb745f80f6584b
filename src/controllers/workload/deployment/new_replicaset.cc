// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/new_replicaset.h"

#include "controllers/workload/deployment/sizes.h"
#include "controllers/workload/deployment/template_hash.h"
#include "object/owner.h"

namespace cox::controllers::deployment {
namespace {

using apps::v1::Deployment;
using apps::v1::ReplicaSet;

constexpr size_t kMaxName = 253;

std::string NameOf(const Deployment& deployment, const std::string& hash) {
  return deployment.metadata.name.substr(0, kMaxName - hash.size() - 1) + "-" + hash;
}

}  // namespace

ReplicaSet NewReplicaSet(const Deployment& deployment, const std::vector<SetPtr>& old) {
  const std::string hash = HashOf(deployment.spec.template_, deployment.status.collisionCount);
  ReplicaSet set;
  set.metadata.name = NameOf(deployment, hash);
  set.metadata.namespace_ = deployment.metadata.namespace_;
  set.metadata.ownerReferences = {ControllerRef(Deployment::kKind, deployment.metadata)};
  set.spec.minReadySeconds = deployment.spec.minReadySeconds;
  set.spec.selector = deployment.spec.selector;
  set.spec.selector.ensure().matchLabels[kTemplateHash] = hash;
  set.spec.template_ = deployment.spec.template_;
  set.spec.template_.metadata.labels[kTemplateHash] = hash;
  set.metadata.labels = set.spec.template_.metadata.labels;
  int32_t total = 0;
  for (const SetPtr& other : old) total += SizeOf(*other);
  set.spec.replicas = LatestSize(deployment, 0, total);
  SetLatestAnnotations(deployment, set, NextRevision(old));
  SetReplicasAnnotations(set, SizeOf(deployment), SizeOf(deployment) + BoundsOf(deployment).surge);
  return set;
}

bool UpdateLatest(const Deployment& deployment, const std::vector<SetPtr>& old, ReplicaSet& set) {
  bool changed = SetLatestAnnotations(deployment, set, NextRevision(old));
  if (set.spec.minReadySeconds != deployment.spec.minReadySeconds) {
    set.spec.minReadySeconds = deployment.spec.minReadySeconds;
    changed = true;
  }
  return changed;
}

}  // namespace cox::controllers::deployment
