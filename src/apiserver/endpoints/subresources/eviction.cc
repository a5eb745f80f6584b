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
// The field manager of writes that the server makes on its own.
constexpr std::string_view kServerManager = "kube-apiserver";

Status TooMany(std::string why, int32_t retry_after) {
  return Status(
      Reason::kTooManyRequests, "Cannot evict pod as it would violate the pod's disruption budget.",
      StatusDetails{
          .causes = {{.type = "DisruptionBudget", .message = std::move(why), .field = ""}},
          .retry_after_seconds = retry_after});
}

// Consumes one allowed disruption of the budget.
Status Take(const std::string& pod, const Time& now, policy::v1::PodDisruptionBudget* budget) {
  policy::v1::PodDisruptionBudgetStatus& status = budget->status;
  const std::string& name = budget->metadata.name;
  if (status.observedGeneration < budget->metadata.generation) {
    return TooMany("The disruption budget " + name + " is still being processed by the server.",
                   10);
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

Status CheckBudget(ResourceHandlers& handlers, WriteContext w, const core::v1::Pod& pod) {
  w.served_as = nullptr;  // later errors are about budgets
  const ServedResource& budgets = handlers.registry().Hub(policy::v1::PodDisruptionBudget::kKind);
  COX_ASSIGN_OR_RETURN(List<policy::v1::PodDisruptionBudget> found, BudgetsOf(w.ctx, budgets, pod));
  if (found.empty()) return {};
  if (found.size() > 1) {
    return Status(Reason::kInternalError,
                  "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                  "does not support.");
  }
  const policy::v1::PodDisruptionBudget& budget = found.front();
  // A Pod that is running but not ready may be evicted if the budget is met without it.
  const bool always_unhealthy = budget.spec.unhealthyPodEvictionPolicy &&
                                *budget.spec.unhealthyPodEvictionPolicy == policy::v1::kAlwaysAllow;
  const bool met = budget.status.currentHealthy >= budget.status.desiredHealthy &&
                   budget.status.desiredHealthy > 0;
  if (!core_rules::IsReady(pod) && (always_unhealthy || met)) return {};
  static const BudgetStatus kStrategy;
  return budgets.store()
      .Update(w, {.ns = pod.metadata.namespace_,
                  .name = budget.metadata.name,
                  .how = &kStrategy,
                  .change = [&](const Object* existing) -> Result<Object> {
                    Object next = *existing;
                    COX_RETURN_IF_ERROR(
                        Take(pod.metadata.name, w.now, next.As<policy::v1::PodDisruptionBudget>()));
                    TrackManagers(budgets, "status", existing, next, kServerManager, w.now);
                    return next;
                  },
                  .validate = {},
                  .validate_create = {}})
      .status();
}

// Sets the DisruptionTarget condition, which records the reason of the deletion.
Status MarkEvicted(const WriteContext& w, const ServedResource& pods, const core::v1::Pod& pod) {
  return pods.store()
      .Update(w, {.ns = pod.metadata.namespace_,
                  .name = pod.metadata.name,
                  .how = pods.strategy().Subresource("status"),
                  .change = [&](const Object* existing) -> Result<Object> {
                    Object next = *existing;
                    auto& conditions = next.As<core::v1::Pod>()->status.conditions;
                    SetCondition(conditions,
                                 {.type = "DisruptionTarget",
                                  .status = "True",
                                  .reason = "EvictionByEvictionAPI",
                                  .message = "Eviction API: evicting"},
                                 w.now);
                    return next;
                  },
                  .validate = {},
                  .validate_create = {}})
      .status();
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
  COX_ASSIGN_OR_RETURN(const Object found,
                       resource.store().Get(call.ctx(), call.info.namespace_, call.info.name));
  const auto& pod = *found.As<core::v1::Pod>();
  const bool wrong_pod =
      how.preconditions && how.preconditions->uid && *how.preconditions->uid != pod.metadata.uid;
  if (!CanIgnoreBudget(pod) && !wrong_pod) {
    COX_RETURN_IF_ERROR(CheckBudget(handlers, w, pod));
    if (!dry_run) COX_RETURN_IF_ERROR(MarkEvicted(w, resource, pod));
  }
  COX_RETURN_IF_ERROR(resource
                          .store()
                          // The eviction was admitted; the deletion itself needs no admission.
                          .Delete(w, call.info.namespace_, call.info.name, how, nullptr)
                          .status());
  RespondSuccess(call, 201, accepted);
  return {};
}

}  // namespace cox::apiserver
