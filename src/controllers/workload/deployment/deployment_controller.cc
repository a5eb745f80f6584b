// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/deployment_controller.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "controllers/shared/pods/by_controller.h"
#include "controllers/shared/pods/claim.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/deployment/rollout.h"
#include "controllers/workload/deployment/sizes.h"
#include "coxswain/controller.h"

namespace cox::controllers {
namespace {

using apps::v1::Deployment;
using apps::v1::ReplicaSet;
using core::v1::Pod;
using deployment::Rollout;
using deployment::SetPtr;
using pods::ByController;

constexpr std::string_view kName = "deployment-controller";

class DeploymentReconciler final : public Reconciler {
 public:
  explicit DeploymentReconciler(Manager& manager)
      : client_(manager.client()),
        events_(manager.events()),
        deployments_(manager.cache().ListerOf<Deployment>()),
        owned_(manager.cache().IndexOf<ReplicaSet, ByController<ReplicaSet>>()),
        pods_(manager.cache().IndexOf<Pod, ByController<Pod>>()),
        parts_{client_, events_, [this](const ReplicaSet& set) { return HasRunningPods(set); }} {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override;

 private:
  // An empty selector would match the ReplicaSets of other owners.
  Result<ReconcileResult> WarnSelectsAllPods(Context& ctx, const Deployment& deployment) const;

  // Ends at the first such Pod, because each Pod that ends causes a sync.
  bool HasRunningPods(const ReplicaSet& set) const {
    bool found = false;
    pods_.Visit(pods::ControlledBy(set.metadata), [&found](const Pod& pod) {
      found = !pods::IsTerminal(pod);
      return !found;
    });
    return found;
  }

  // Constant after construction; thread-safe.
  Client& client_;
  EventRecorder& events_;
  const Lister<Deployment> deployments_;
  const Index<ReplicaSet, ByController<ReplicaSet>> owned_;
  const Index<Pod, ByController<Pod>> pods_;
  const Rollout::Parts parts_;
};

Result<ReconcileResult> DeploymentReconciler::Reconcile(Context& ctx, const ObjectKey& key) {
  const auto deployment = deployments_.Get(key);
  if (deployment == nullptr) return ReconcileResult::Done();
  COX_ASSIGN_OR_RETURN(const auto selector,
                       labels::Selector::FromLabelSelector(deployment->spec.selector.get()));
  if (selector.Empty()) return WarnSelectsAllPods(ctx, *deployment);
  COX_ASSIGN_OR_RETURN(std::vector<SetPtr> sets,
                       pods::ClaimObjects(ctx, client_, *deployment, selector,
                                          pods::OwnedOrOrphaned(owned_, *deployment)));
  return Rollout(parts_, *deployment, std::move(sets)).Run(ctx);
}

Result<ReconcileResult> DeploymentReconciler::WarnSelectsAllPods(
    Context& ctx, const Deployment& deployment) const {
  events_.Record(deployment, EventKind::kWarning, "SelectingAll", "Select",
                 "This deployment is selecting all pods. A non-empty selector is required.");
  if (deployment.status.observedGeneration < deployment.metadata.generation) {
    Deployment seen = deployment;
    seen.status.observedGeneration = deployment.metadata.generation;
    COX_RETURN_IF_ERROR(client_.UpdateStatus(ctx, std::move(seen)).status());
  }
  return ReconcileResult::Done();
}

// Only the strategy Recreate waits for Pods: until they are deleted or terminal.
bool PodEnds(const Delta& delta) {
  if (delta.type == Delta::Type::kDeleted) return true;
  const auto before = As<Pod>(delta.before);
  const auto after = As<Pod>(delta.after);
  return before != nullptr && after != nullptr && !pods::IsTerminal(*before) &&
         pods::IsTerminal(*after);
}

std::function<std::vector<ObjectKey>(const Pod&)> RecreatedBy(Lister<ReplicaSet> sets,
                                                              Lister<Deployment> deployments) {
  return [=](const Pod& pod) -> std::vector<ObjectKey> {
    const auto set = sets.Get(pods::ControllerKey(pod.metadata, ReplicaSet::kKind));
    if (set == nullptr) return {};
    const auto owner = deployments.Get(pods::ControllerKey(set->metadata, Deployment::kKind));
    if (owner == nullptr || deployment::IsRolling(*owner)) return {};
    return {KeyOf(*owner)};
  };
}

}  // namespace

Status AddDeploymentController(Manager& manager, const DeploymentOptions& options) {
  const auto deployments = manager.cache().ListerOf<Deployment>();
  const auto sets = manager.cache().ListerOf<ReplicaSet>();
  return ControllerFor<Deployment>(manager)
      .Named(std::string(kName))
      .Watches<ReplicaSet>(pods::OwnersOf<Deployment, ReplicaSet>(deployments))
      .Watches<Pod>(RecreatedBy(sets, deployments), PodEnds)
      .With({.max_concurrent_reconciles = options.concurrent_syncs})
      .Complete(std::make_unique<DeploymentReconciler>(manager));
}

}  // namespace cox::controllers
