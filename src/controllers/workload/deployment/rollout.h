// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "base/context.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/deployment/revisions.h"
#include "controllers/workload/deployment/sizes.h"
#include "coxswain/client.h"
#include "coxswain/event_recorder.h"
#include "coxswain/reconciler.h"

namespace cox::controllers::deployment {

// One look at one deployment: takes the next step of its rollout, and writes its status.
//
// A step is small (make the latest set, grow it, shrink old ones); what comes of it, the
// ReplicaSet controller tells in the sets' statuses, and that is the reason for the next look.
// Threads: one. Ownership: used once; what it is given outlives it.
class Rollout {
 public:
  struct Parts {
    Client& client;
    EventRecorder& events;
    // The Pods of a ReplicaSet, by its uid.
    std::function<std::vector<pods::PodPtr>(const std::string& uid)> pods_of;
  };
  Rollout(const Parts& parts, apps::v1::Deployment deployment, std::vector<SetPtr> sets);

  Result<ReconcileResult> Run(Context& ctx);

 private:
  // The ways it can go.
  Status RollOut(Context& ctx);   // RollingUpdate
  Status Recreate(Context& ctx);  // all old Pods go before new ones come
  Status ScaleOnly(Context& ctx);

  // The latest set as it should be, but for its size; made if `create`.
  Status EnsureLatest(Context& ctx, bool create);
  Status UpdateExisting(Context& ctx);
  Status CreateLatest(Context& ctx);
  // The name is taken: by our own set, of which the cache did not know, or by another's.
  Status ResolveCollision(Context& ctx, const apps::v1::ReplicaSet& wanted, const Status& error);
  Status TellCreateFailed(Context& ctx, const apps::v1::ReplicaSet& wanted, const Status& error);
  // Puts the revision and, where progress is watched, the condition Progressing into the
  // deployment.
  Status TellRevision(Context& ctx, std::string_view reason, const std::string& message);

  // Each with its event. True if any set has changed its size.
  Result<bool> ResizeAll(Context& ctx, const std::vector<Resize>& sizes);
  Result<bool> ResizeTo(Context& ctx, const SetPtr& set, int32_t size);
  Status DeleteHistory(Context& ctx);
  bool OldPodsRun() const;

  // Writes the status if it differs.
  Status WriteStatus(Context& ctx, apps::v1::DeploymentStatus status);
  Time Now(const Context& ctx) const { return pods::PreciseNow(ctx.clock()); }

  const Parts& parts_;
  apps::v1::Deployment deployment_;
  ReplicaSets sets_;
};

}  // namespace cox::controllers::deployment
