// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/rollout.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "controllers/workload/deployment/deployment_status.h"
#include "controllers/workload/deployment/new_replicaset.h"
#include "controllers/workload/deployment/template_hash.h"
#include "coxswain/conditions.h"
#include "coxswain/owner.h"
#include "object/type/equal.h"

namespace cox::controllers::deployment {

using apps::v1::Deployment;
using apps::v1::DeploymentStatus;
using apps::v1::ReplicaSet;

Rollout::Rollout(const Parts& parts, Deployment deployment, std::vector<SetPtr> sets)
    : parts_(parts),
      deployment_(std::move(deployment)),
      sets_(Sort(deployment_, std::move(sets))) {}

Result<ReconcileResult> Rollout::Run(Context& ctx) {
  if (deployment_.metadata.deletionTimestamp) {
    COX_RETURN_IF_ERROR(WriteStatus(ctx, CountsOf(deployment_, sets_, Now(ctx))));
    return ReconcileResult::Done();
  }
  DeploymentStatus status = deployment_.status;
  if (NotePause(deployment_, status, Now(ctx))) {
    COX_RETURN_IF_ERROR(WriteStatus(ctx, std::move(status)));
  }
  if (deployment_.spec.paused || IsScaling(deployment_, sets_)) {
    COX_RETURN_IF_ERROR(ScaleOnly(ctx));
  } else {
    COX_RETURN_IF_ERROR(IsRolling(deployment_) ? RollOut(ctx) : Recreate(ctx));
    COX_RETURN_IF_ERROR(WriteStatus(ctx, RolloutStatusOf(deployment_, sets_, Now(ctx))));
  }
  const auto deadline = DeadlineIn(deployment_, deployment_.status, Now(ctx));
  return deadline ? ReconcileResult::After(*deadline) : ReconcileResult::Done();
}

Status Rollout::RollOut(Context& ctx) {
  COX_RETURN_IF_ERROR(EnsureLatest(ctx, true));
  int32_t total = 0;
  for (const SetPtr& set : sets_.All()) total += SizeOf(*set);
  const int32_t size = LatestSize(deployment_, SizeOf(*sets_.latest), total);
  COX_ASSIGN_OR_RETURN(const bool grown, ResizeTo(ctx, sets_.latest, size));
  if (grown) return {};
  COX_ASSIGN_OR_RETURN(const bool shrunk, ResizeAll(ctx, ShrinkOld(deployment_, sets_)));
  if (shrunk) return {};
  return DeleteHistory(ctx);
}

Status Rollout::Recreate(Context& ctx) {
  COX_RETURN_IF_ERROR(EnsureLatest(ctx, false));
  std::vector<Resize> emptied;
  for (const SetPtr& set : sets_.ActiveOld()) emptied.push_back({set, 0});
  COX_ASSIGN_OR_RETURN(const bool shrunk, ResizeAll(ctx, emptied));
  if (shrunk || OldPodsRun()) return {};
  COX_RETURN_IF_ERROR(EnsureLatest(ctx, true));
  COX_RETURN_IF_ERROR(ResizeTo(ctx, sets_.latest, SizeOf(deployment_)).status());
  return DeleteHistory(ctx);
}

Status Rollout::ScaleOnly(Context& ctx) {
  COX_RETURN_IF_ERROR(EnsureLatest(ctx, false));
  COX_RETURN_IF_ERROR(ResizeAll(ctx, ScaleAll(deployment_, sets_)).status());
  if (deployment_.spec.paused) COX_RETURN_IF_ERROR(DeleteHistory(ctx));
  return WriteStatus(ctx, CountsOf(deployment_, sets_, Now(ctx)));
}

Status Rollout::EnsureLatest(Context& ctx, bool create) {
  if (sets_.latest != nullptr) return UpdateExisting(ctx);
  return create ? CreateLatest(ctx) : Status();
}

Status Rollout::UpdateExisting(Context& ctx) {
  ReplicaSet set = *sets_.latest;
  if (UpdateLatest(deployment_, sets_.old, set)) {
    COX_ASSIGN_OR_RETURN(set, parts_.client.Update(ctx, std::move(set)));
    sets_.latest = std::make_shared<const ReplicaSet>(std::move(set));
  }
  // If Progressing is set already, only the revision may have changed.
  const bool told =
      FindCondition(deployment_.status.conditions, apps::v1::kDeploymentProgressing) != nullptr;
  return ReportRevision(ctx, told ? std::string_view() : kFound,
                        "Found new replica set " + Quote(sets_.latest->metadata.name));
}

Status Rollout::CreateLatest(Context& ctx) {
  const ReplicaSet wanted = NewReplicaSet(deployment_, sets_.old);
  const Result<ReplicaSet> created = parts_.client.Create(ctx, wanted);
  if (!created.ok()) {
    return created.status().Is(Reason::kAlreadyExists)
               ? ResolveCollision(ctx, wanted, created.status())
               : ReportCreateFailure(ctx, wanted, created.status());
  }
  sets_.latest = std::make_shared<const ReplicaSet>(*created);
  const std::string& name = wanted.metadata.name;
  if (SizeOf(wanted) > 0) {
    const std::string size = std::to_string(SizeOf(wanted));
    parts_.events.Record(deployment_, EventKind::kNormal, "ScalingReplicaSet",
                         "Scale " + name + " to " + size,
                         "Scaled up replica set " + name + " from 0 to " + size);
  }
  return ReportRevision(ctx, kCreated, "Created new replica set " + Quote(name));
}

Status Rollout::ResolveCollision(Context& ctx, const ReplicaSet& wanted, const Status& error) {
  // Read from the API server, because the cache may not contain the set yet.
  const Result<ReplicaSet> taken = parts_.client.Get<ReplicaSet>(ctx, KeyOf(wanted));
  if (!taken.ok()) return taken.status();  // the owner is unknown, or the set is gone again
  if (IsControlledBy(*taken, deployment_) &&
      SameTemplate(taken->spec.template_, deployment_.spec.template_)) {
    sets_.latest = std::make_shared<const ReplicaSet>(*taken);
    return ReportRevision(ctx, {}, {});
  }
  DeploymentStatus status = deployment_.status;
  status.collisionCount = status.collisionCount.value_or(0) + 1;
  COX_RETURN_IF_ERROR(WriteStatus(ctx, std::move(status)));
  return error;  // the next sync uses another name
}

Status Rollout::ReportCreateFailure(Context& ctx, const ReplicaSet& wanted, const Status& error) {
  const auto& causes = error.details().causes;
  const bool namespace_goes =
      std::any_of(causes.begin(), causes.end(),
                  [](const StatusCause& cause) { return cause.type == "NamespaceTerminating"; });
  if (namespace_goes || ctx.Done()) return error;
  const std::string message =
      "Failed to create new replica set " + Quote(wanted.metadata.name) + ": " + error.message();
  parts_.events.Record(deployment_, EventKind::kWarning, kCreateFailed, "Create", message);
  if (HasDeadline(deployment_)) {
    DeploymentStatus status = deployment_.status;
    SetDeploymentCondition(status, apps::v1::kDeploymentProgressing, "False", kCreateFailed,
                           message, Now(ctx));
    COX_RETURN_IF_ERROR(WriteStatus(ctx, std::move(status)));
  }
  return error;
}

Status Rollout::ReportRevision(Context& ctx, std::string_view reason, const std::string& message) {
  DeploymentStatus status = deployment_.status;
  if (!reason.empty() && HasDeadline(deployment_)) {
    SetDeploymentCondition(status, apps::v1::kDeploymentProgressing, "True", reason, message,
                           Now(ctx));
  }
  const std::string* revision = sets_.latest->metadata.annotations.Get(kRevision);
  const std::string* told = deployment_.metadata.annotations.Get(kRevision);
  if (revision == nullptr || (told != nullptr && *told == *revision)) {
    return WriteStatus(ctx, std::move(status));
  }
  Deployment changed = deployment_;
  changed.metadata.annotations[kRevision] = *revision;
  changed.status = std::move(status);
  // Annotations are written together with the status, which does not change the generation.
  COX_ASSIGN_OR_RETURN(deployment_, parts_.client.UpdateStatus(ctx, std::move(changed)));
  return {};
}

Result<bool> Rollout::ResizeAll(Context& ctx, const std::vector<Resize>& sizes) {
  bool resized = false;
  for (const Resize& resize : sizes) {
    COX_ASSIGN_OR_RETURN(const bool changed, ResizeTo(ctx, resize.set, resize.to));
    resized = resized || changed;
  }
  return resized;
}

Result<bool> Rollout::ResizeTo(Context& ctx, const SetPtr& set, int32_t size) {
  ReplicaSet changed = *set;
  changed.spec.replicas = size;
  const int32_t wanted = SizeOf(deployment_);
  const bool annotated =
      SetReplicasAnnotations(changed, wanted, wanted + BoundsOf(deployment_).surge);
  const int32_t former = SizeOf(*set);
  if (!annotated && former == size) return false;
  COX_ASSIGN_OR_RETURN(changed, parts_.client.Update(ctx, std::move(changed)));
  const auto written = std::make_shared<const ReplicaSet>(std::move(changed));
  sets_.Replace(written);
  if (former == size) return false;
  const std::string& name = written->metadata.name;
  parts_.events.Record(deployment_, EventKind::kNormal, "ScalingReplicaSet",
                       "Scale " + name + " to " + std::to_string(size),
                       std::string("Scaled ") + (size > former ? "up" : "down") + " replica set " +
                           name + " from " + std::to_string(former) + " to " +
                           std::to_string(size));
  return true;
}

Status Rollout::DeleteHistory(Context& ctx) {
  // During a rollout, users may still roll back to these sets.
  if (!deployment_.spec.paused && !IsComplete(deployment_, CountsOf(deployment_, sets_, Now(ctx))))
    return {};
  for (const SetPtr& set : SetsToDelete(deployment_, sets_.old)) {
    const Status deleted =
        parts_.client.Delete<ReplicaSet>(ctx, KeyOf(*set), {.uid = set->metadata.uid});
    if (!deleted.ok() && !deleted.Is(Reason::kNotFound)) return deleted;
  }
  return {};
}

bool Rollout::OldPodsRun() const {
  return std::any_of(sets_.old.begin(), sets_.old.end(), [this](const SetPtr& set) {
    return set->status.replicas > 0 || parts_.has_running_pods(*set);
  });
}

Status Rollout::WriteStatus(Context& ctx, DeploymentStatus status) {
  if (DeepEqual(status, deployment_.status)) return {};
  Deployment changed = deployment_;
  changed.status = std::move(status);
  COX_ASSIGN_OR_RETURN(deployment_, parts_.client.UpdateStatus(ctx, std::move(changed)));
  return {};
}

}  // namespace cox::controllers::deployment
