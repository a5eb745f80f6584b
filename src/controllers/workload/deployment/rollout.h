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

// One sync of one deployment: takes the next step of its rollout and writes its status.
//
// A step is small (create the latest set, scale it up, scale old sets down). The ReplicaSet
// controller reports the result in the status of the sets, which triggers the next sync.
//
// Threads: one.
// Ownership: used once; the constructor's arguments outlive it.
class Rollout {
 public:
  struct Parts {
    Client& client;
    EventRecorder& events;
    // Returns whether a Pod of the ReplicaSet is not terminal.
    std::function<bool(const apps::v1::ReplicaSet& set)> has_running_pods;
  };
  Rollout(const Parts& parts, apps::v1::Deployment deployment, std::vector<SetPtr> sets);

  Result<ReconcileResult> Run(Context& ctx);

 private:
  Status RollOut(Context& ctx);   // RollingUpdate
  Status Recreate(Context& ctx);  // deletes all old Pods before it creates new ones
  Status ScaleOnly(Context& ctx);

  // Updates the latest set except for its size; creates it if `create`.
  Status EnsureLatest(Context& ctx, bool create);
  Status UpdateExisting(Context& ctx);
  Status CreateLatest(Context& ctx);
  // The name is in use: by this deployment's set, which the cache does not contain yet, or by
  // another.
  Status ResolveCollision(Context& ctx, const apps::v1::ReplicaSet& wanted, const Status& error);
  Status ReportCreateFailure(Context& ctx, const apps::v1::ReplicaSet& wanted, const Status& error);
  // Writes the revision and, if there is a deadline, the condition Progressing.
  Status ReportRevision(Context& ctx, std::string_view reason, const std::string& message);

  // Records an event for each change. Returns true if the size of any set has changed.
  Result<bool> ResizeAll(Context& ctx, const std::vector<Resize>& sizes);
  Result<bool> ResizeTo(Context& ctx, const SetPtr& set, int32_t size);
  Status DeleteHistory(Context& ctx);
  bool OldPodsRun() const;

  // Writes the status if it has changed.
  Status WriteStatus(Context& ctx, apps::v1::DeploymentStatus status);
  Time Now(const Context& ctx) const { return pods::PreciseNow(ctx.clock()); }

  const Parts& parts_;
  apps::v1::Deployment deployment_;
  ReplicaSets sets_;
};

}  // namespace cox::controllers::deployment
