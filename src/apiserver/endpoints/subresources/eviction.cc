// SPDX-License-Identifier: Apache-2.0
#include "api/core/v1.h"
#include "api/policy/v1.h"
#include "api/policy/v1beta1.h"
#include "apiserver/endpoints/subresources/subresources.h"
#include "apiserver/endpoints/verbs/body.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/registry/served/field_managers.h"
#include "apiserver/registry/validation/conditions.h"
#include "object/core/pod_state.h"
#include "object/selector/labels.h"

// pods/eviction: deletes a Pod if its PodDisruptionBudget allows it.
namespace cox::apiserver {
namespace {

// The maximum number of evictions per budget that the disruption controller has not yet confirmed.
constexpr size_t kMaxDisruptedPods = 2000;
// The maximum number of attempts to delete a Pod that changes at the same time.
constexpr int kMaxConflicts = 20;
// The field manager of writes that the server makes on its own.
constexpr std::string_view kServerManager = "kube-apiserver";

Status TooMany(std::string why, int32_t retry_after) {
  return Status(
      Reason::kTooManyRequests, "Cannot evict pod as it would violate the pod's disruption budget.",
      StatusDetails{
          .causes = {{.type = "DisruptionBudget", .message = std::move(why), .field = ""}},
          .retry_after_seconds = retry_after});
}

Status StillProcessed(const std::string& budget) {
  return TooMany("The disruption budget " + budget + " is still being processed by the server.",
                 10);
}

// Consumes one allowed disruption of the budget.
Status Take(const std::string& pod, const Time& now, policy::v1::PodDisruptionBudget* budget) {
  policy::v1::PodDisruptionBudgetStatus& status = budget->status;
  const std::string& name = budget->metadata.name;
  if (status.observedGeneration < budget->metadata.generation) {
    return StillProcessed(name);
  }
  if (status.disruptionsAllowed < 0) {
    return ForbiddenError({"policy", "poddisruptionbudgets"}, name,
                          "pdb disruptions allowed is negative");
  }
  if (status.disruptedPods.size() > kMaxDisruptedPods) {
    return ForbiddenError({"policy", "poddisruptionbudgets"}, name,
                          "DisruptedPods map too big - too many evictions not confirmed by PDB "
                          "controller");
  }
  if (status.disruptionsAllowed == 0) {
    return TooMany("The disruption budget " + name + " needs " +
                       std::to_string(status.desiredHealthy) + " healthy pods and has " +
                       std::to_string(status.currentHealthy) + " currently",
                   0);
  }
  --status.disruptionsAllowed;
  if (status.disruptionsAllowed == 0) {
    SetCondition(status.conditions,
                 {.type = "DisruptionAllowed",
                  .status = "False",
                  .observedGeneration = status.observedGeneration,
                  .reason = "InsufficientPods"},
                 now);
  }
  status.disruptedPods[pod] = now;
  return {};
}

// Pods that are terminal, pending or already being deleted are evicted without checking budgets.
bool CanIgnoreBudget(const core::v1::Pod& pod) {
  return core_rules::IsTerminal(pod) || pod.status.phase == "Pending" ||
         pod.metadata.deletionTimestamp;
}

// The budgets whose selector matches the Pod.
Result<List<policy::v1::PodDisruptionBudget>> BudgetsOf(Context& ctx, const ServedResource& budgets,
                                                        const core::v1::Pod& pod) {
  List<policy::v1::PodDisruptionBudget> found;
  COX_ASSIGN_OR_RETURN(ListPage page, ReadPage(ctx, budgets, pod.metadata.namespace_, {}));
  for (const storage::EntryPtr& entry : page.entries) {
    COX_ASSIGN_OR_RETURN(Object object, budgets.store().Decode(entry->stored(), entry->revision()));
    auto& budget = *object.As<policy::v1::PodDisruptionBudget>();
    if (!budget.spec.selector) continue;
    Result<labels::Selector> selector =
        labels::Selector::FromLabelSelector(budget.spec.selector.get());
    if (!selector.ok() || !selector->Matches(pod.metadata.labels)) continue;
    found.push_back(std::move(budget));
  }
  return found;
}

class BudgetStatus final : public UpdateStrategyOf<policy::v1::PodDisruptionBudget> {
 protected:
  void PrepareUpdate(const WriteContext&, policy::v1::PodDisruptionBudget& object,
                     const policy::v1::PodDisruptionBudget& old) const override {
    object.spec = old.spec;
  }
};

// The budget that permits an eviction.
struct Permission {
  std::string budget;  // empty if no budget applies
  // The Pod is not ready, and the budget is met without it. This is true only for the version of
  // the Pod that was checked.
  bool for_unready_pod = false;
};

// Consumes a disruption of the Pod's budget, if it has one.
Result<Permission> CheckBudget(const ResourceHandlers& handlers, WriteContext w,
                               const core::v1::Pod& pod) {
  w.served_as = nullptr;  // later errors are about budgets
  const ServedResource& budgets = handlers.registry().Hub(policy::v1::PodDisruptionBudget::kKind);
  COX_ASSIGN_OR_RETURN(List<policy::v1::PodDisruptionBudget> found, BudgetsOf(w.ctx, budgets, pod));
  if (found.empty()) return Permission{};
  if (found.size() > 1) {
    return Status(Reason::kUnknown,
                  "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                  "does not support.");
  }
  const policy::v1::PodDisruptionBudget& budget = found.front();
  const std::string& name = budget.metadata.name;
  const bool always_unhealthy = budget.spec.unhealthyPodEvictionPolicy &&
                                *budget.spec.unhealthyPodEvictionPolicy == policy::v1::kAlwaysAllow;
  const bool met = budget.status.currentHealthy >= budget.status.desiredHealthy &&
                   budget.status.desiredHealthy > 0;
  if (!core_rules::IsReady(pod) && (always_unhealthy || met)) {
    return Permission{.budget = name, .for_unready_pod = true};
  }
  static const BudgetStatus kStrategy;
  COX_RETURN_IF_ERROR(
      budgets.store()
          .Update(w, {.ns = pod.metadata.namespace_,
                      .name = name,
                      .how = &kStrategy,
                      .change = [&](const Object* existing) -> Result<Object> {
                        Object next = *existing;
                        COX_RETURN_IF_ERROR(Take(pod.metadata.name, w.now,
                                                 next.As<policy::v1::PodDisruptionBudget>()));
                        TrackManagers(budgets, "status", existing, next, kServerManager, w.now);
                        return next;
                      },
                      .validate = {},
                      .validate_create = {}})
          .status());
  return Permission{.budget = name};
}

bool HasVersion(const meta::v1::DeleteOptions& options) {
  return options.preconditions && options.preconditions->resourceVersion;
}

// Makes the deletion fail if the Pod is no longer the given version. The client's own precondition
// is kept.
void RequireVersion(const core::v1::Pod& pod, meta::v1::DeleteOptions* options) {
  if (HasVersion(*options)) return;
  if (!options->preconditions) options->preconditions.emplace();
  options->preconditions->resourceVersion = pod.metadata.resourceVersion;
}

// Sets the DisruptionTarget condition, which records the reason of the deletion, and deletes the
// Pod. The eviction was admitted; the deletion itself needs no admission.
Status MarkAndDelete(const WriteContext& w, const ServedResource& pods, const core::v1::Pod& pod,
                     meta::v1::DeleteOptions options) {
  const std::string& ns = pod.metadata.namespace_;
  const std::string& name = pod.metadata.name;
  if (!w.dry_run) {
    COX_ASSIGN_OR_RETURN(
        const ResourceStore::UpdateResult marked,
        pods.store().Update(w, {.ns = ns,
                                .name = name,
                                .how = pods.strategy().Subresource("status"),
                                .change = [&](const Object* existing) -> Result<Object> {
                                  COX_RETURN_IF_ERROR(
                                      pods.store().CheckPreconditions(options, *existing));
                                  Object next = *existing;
                                  SetCondition(next.As<core::v1::Pod>()->status.conditions,
                                               {.type = "DisruptionTarget",
                                                .status = "True",
                                                .reason = "EvictionByEvictionAPI",
                                                .message = "Eviction API: evicting"},
                                               w.now);
                                  return next;
                                },
                                .validate = {},
                                .validate_create = {}}));
    if (HasVersion(options)) {
      options.preconditions->resourceVersion = marked.object.object_meta()->resourceVersion;
    }
  }
  return pods.store().Delete(w, ns, name, options, nullptr).status();
}

Status EvictFromBudget(const ResourceHandlers& handlers, const WriteContext& w,
                       const ServedResource& pods, const core::v1::Pod& pod,
                       const meta::v1::DeleteOptions& requested) {
  COX_ASSIGN_OR_RETURN(const Permission permission, CheckBudget(handlers, w, pod));
  meta::v1::DeleteOptions options = requested;
  if (permission.for_unready_pod) RequireVersion(pod, &options);
  Status deleted = MarkAndDelete(w, pods, pod, std::move(options));
  // The Pod may have become ready, and the client has no precondition that failed: it should retry.
  const bool changed =
      permission.for_unready_pod && !HasVersion(requested) && deleted.Is(Reason::kConflict);
  return changed ? StillProcessed(permission.budget) : deleted;
}

Status Evict(const ResourceHandlers& handlers, const WriteContext& w, const ServedResource& pods,
             const std::string& ns, const std::string& name,
             const meta::v1::DeleteOptions& requested) {
  Status deleted;
  for (int attempt = 0; attempt < kMaxConflicts; ++attempt) {
    COX_ASSIGN_OR_RETURN(const Object found, pods.store().Get(w.ctx, ns, name));
    const auto& pod = *found.As<core::v1::Pod>();
    COX_RETURN_IF_ERROR(pods.store().CheckPreconditions(requested, found));
    if (!CanIgnoreBudget(pod)) return EvictFromBudget(handlers, w, pods, pod, requested);
    meta::v1::DeleteOptions options = requested;
    // A Pending Pod may start at the same time, and a budget then applies to it.
    const bool may_start = !core_rules::IsTerminal(pod) && !pod.metadata.deletionTimestamp;
    if (may_start) RequireVersion(pod, &options);
    deleted = MarkAndDelete(w, pods, pod, std::move(options));
    if (!deleted.Is(Reason::kConflict) || HasVersion(requested)) return deleted;
  }
  return deleted;
}

// Decodes the body: policy/v1, or policy/v1beta1, which has the same fields.
Result<policy::v1::Eviction> ReadEviction(Call& call, FieldValidation validation) {
  const KindInfo& present = policy::v1::Eviction::kKind;
  const KindInfo& before = policy::v1beta1::Eviction::kKind;
  if (NamesKind(call, before)) {
    COX_ASSIGN_OR_RETURN(const Object body, DecodeBody(call, before, validation));
    const auto& old = *body.As<policy::v1beta1::Eviction>();
    return policy::v1::Eviction{.metadata = old.metadata, .deleteOptions = old.deleteOptions};
  }
  COX_ASSIGN_OR_RETURN(const Object body, DecodeBody(call, present, validation));
  return *body.As<policy::v1::Eviction>();
}

}  // namespace

Status HandleEviction(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  COX_ASSIGN_OR_RETURN(const WriteOptions options, ParseWriteOptions(call, "CreateOptions"));
  COX_ASSIGN_OR_RETURN(policy::v1::Eviction asked, ReadEviction(call, options.field_validation));
  if (asked.metadata.name != call.info.name) {
    return Status::BadRequest("name in URL does not match name in Eviction object");
  }
  if (asked.metadata.namespace_.empty()) asked.metadata.namespace_ = call.info.namespace_;
  const bool dry_run_requested =
      options.dry_run || (asked.deleteOptions && !asked.deleteOptions->dryRun.empty());
  Object admitted = Object::Of(std::move(asked));
  COX_RETURN_IF_ERROR(AdmitSubresource(handlers.admission(), call,
                                       {.resource = resource,
                                        .subresource = "eviction",
                                        .operation = Operation::kCreate,
                                        .dry_run = dry_run_requested},
                                       admitted));
  const auto& eviction = *admitted.As<policy::v1::Eviction>();
  meta::v1::DeleteOptions how;
  if (eviction.deleteOptions) how = *eviction.deleteOptions;
  const bool dry_run = options.dry_run || !how.dryRun.empty();
  const WriteContext w = WriteContextOf(call, resource, dry_run);
  COX_RETURN_IF_ERROR(Evict(handlers, w, resource, call.info.namespace_, call.info.name, how));
  RespondSuccess(call, 201, accepted);
  return {};
}

}  // namespace cox::apiserver
