// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/resource_quota/resource_quota.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "api/resource/v1.h"
#include "apiserver/admission/plugins/resource_quota/quota_batcher.h"
#include "apiserver/admission/stored_objects.h"
#include "apiserver/registry/served/field_managers.h"
#include "apiserver/request/now.h"

namespace cox::apiserver {
namespace {

using core::v1::ResourceQuota;
using quota::Amounts;
using quota::Evaluator;
using quota::OpenQuota;

constexpr std::string_view kManager = "kube-apiserver";
// The maximum number of attempts if other writers change the quota in the meantime.
constexpr int kMaxRaces = 4;
// The time limit for a request, including the time in the queue.
constexpr std::chrono::seconds kEvaluationTimeout{10};

// The user for updates of quotas.
const UserInfo& Self() {
  static const UserInfo user{
      .name = "system:apiserver", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
  return user;
}

// Resources that are not counted: short-lived or not stored.
bool IsIgnored(const Resource& resource) {
  if (resource.name == "events") return resource.group.empty() || resource.group == "events.k8s.io";
  return resource.group.empty() &&
         (resource.name == "bindings" || resource.name == "componentstatuses");
}

class Evaluators {
 public:
  // Null: use a count evaluator.
  const Evaluator* Find(const KindInfo& hub) const {
    if (&hub == &core::v1::Pod::kKind) return pods_.get();
    if (&hub == &core::v1::Service::kKind) return services_.get();
    if (&hub == &core::v1::PersistentVolumeClaim::kKind) return claims_.get();
    if (&hub == &resource::v1::ResourceClaim::kKind) return resource_claims_.get();
    return nullptr;
  }

 private:
  const quota::EvaluatorPtr pods_ = quota::NewPodEvaluator();
  const quota::EvaluatorPtr services_ = quota::NewServiceEvaluator();
  const quota::EvaluatorPtr claims_ = quota::NewClaimEvaluator();
  const quota::EvaluatorPtr resource_claims_ = quota::NewResourceClaimEvaluator();
};

class ResourceQuotaPlugin final : public AdmissionPlugin {
 public:
  ResourceQuotaPlugin(const Registry& registry, quota::LimitedResources limited)
      : quotas_(registry.Hub(ResourceQuota::kKind)), limited_(std::move(limited)) {}

  std::string_view name() const override { return "ResourceQuota"; }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    if (request.object == nullptr || !request.resource.kind().namespaced || request.ns.empty() ||
        IsIgnored(request.resource.resource())) {
      return {};
    }
    const KindInfo& hub = request.resource.store().kind();
    const Evaluator* evaluator = evaluators_.Find(hub);
    quota::EvaluatorPtr counter;
    if (evaluator == nullptr) {
      counter = quota::NewCountEvaluator(request.resource.resource());
      evaluator = counter.get();
    }
    if (!evaluator->Handles(request.operation, request.subresource)) return {};
    if (limited_.empty() && !AnyQuota(request.ns)) return {};
    Context limited = ctx.WithTimeout(kEvaluationTimeout);
    Status status =
        batcher_.Evaluate(limited, request.ns, {.request = &request, .evaluator = evaluator},
                          [&](const std::vector<QuotaBatcher::Place*>& batch) {
                            // Independent of the context of a single request: if that client
                            // disconnects, the other requests of the batch must not fail.
                            Context all(ctx.clock(), ctx.log());
                            Context turn = all.WithTimeout(kEvaluationTimeout);
                            DecideBatch(turn, request.ns, batch);
                          });
    if (!status.ok() && !ctx.Done() && limited.Done()) {
      return Status::Internal("Internal error occurred: resource quota evaluation timed out");
    }
    return status;
  }

 private:
  struct PendingRequest {
    const AdmissionRequest* request;
    const Evaluator* evaluator;
    bool decided = false;
  };
  using QuotaBatcher = quota::QuotaBatcher<PendingRequest>;

  ResourceStore& store() const { return quotas_.store(); }

  // Most namespaces have no quota.
  bool AnyQuota(const std::string& ns) const {
    const storage::SnapshotPtr now =
        store().cache() == nullptr ? nullptr : store().cache()->Current();
    return now == nullptr || now->Count(store().Prefix(ns)) > 0;
  }

  // The quotas of the namespace, at least as new as the last charge by this server.
  Result<std::vector<OpenQuota>> Read(Context& ctx, const std::string& ns) const {
    bool live = false;
    if (const storage::Revision charged = charged_at_.load();
        charged > 0 && store().cache() != nullptr) {
      live = !store().cache()->WaitFor(ctx, charged).ok();
    }
    std::vector<OpenQuota> quotas;
    COX_RETURN_IF_ERROR(VisitObjects(ctx, store(), ns, [&](const Object& object) {
      quotas.push_back(Open(object));
      return true;
    }));
    if (live) return ReadAgain(ctx, quotas);
    return quotas;
  }

  // Reads the current state of the same quotas; deleted ones are omitted.
  Result<std::vector<OpenQuota>> ReadAgain(Context& ctx,
                                           const std::vector<OpenQuota>& quotas) const {
    std::vector<OpenQuota> again;
    for (const OpenQuota& old : quotas) {
      const meta::v1::ObjectMeta& meta = old.quota.metadata;
      const Result<Object> now = store().Get(ctx, meta.namespace_, meta.name);
      if (now.ok()) {
        again.push_back(Open(*now));
      } else if (!now.status().Is(Reason::kNotFound)) {
        return now.status();
      }
    }
    return again;
  }

  static OpenQuota Open(const Object& object) {
    const ResourceQuota& quota = *object.As<ResourceQuota>();
    return {.quota = quota, .used = quota.status.used};
  }

  void DecideBatch(Context& ctx, const std::string& ns,
                   const std::vector<QuotaBatcher::Place*>& batch) const {
    Result<std::vector<OpenQuota>> quotas = Read(ctx, ns);
    for (int race = 0; quotas.ok() && race < kMaxRaces; ++race) {
      // Coverage is checked only the first time; retries include only the quotas with conflicts.
      CheckBatch(ctx, batch, race == 0 ? limited_ : quota::LimitedResources(), *quotas);
      std::vector<OpenQuota> raced;
      const Status charged = ChargeAll(ctx, *quotas, raced);
      if (charged.ok()) return;
      quotas =
          race + 1 == kMaxRaces ? Result<std::vector<OpenQuota>>(charged) : ReadAgain(ctx, raced);
    }
    for (QuotaBatcher::Place* place : batch) {
      if (!place->request.decided) place->answer = quotas.status();
    }
  }

  // Evaluates the requests in order. Each one includes the charges of those before it.
  static void CheckBatch(Context& ctx, const std::vector<QuotaBatcher::Place*>& batch,
                         const quota::LimitedResources& limited, std::vector<OpenQuota>& quotas) {
    const Time now = NowOf(ctx);
    for (QuotaBatcher::Place* place : batch) {
      PendingRequest& pending = place->request;
      if (pending.decided) continue;
      Result<quota::Charges> charges =
          CheckRequest(*pending.request, *pending.evaluator, limited, now, quotas);
      if (!charges.ok()) {
        place->answer = charges.status();
        pending.decided = true;
      } else if (pending.request->dry_run) {
        pending.decided = true;
      } else {
        for (size_t i = 0; i < quotas.size(); ++i) quotas[i].used = std::move((*charges)[i]);
      }
    }
  }

  // Writes the charges. Returns an error if a write failed; the failed quotas are added to
  // `failed`.
  Status ChargeAll(Context& ctx, const std::vector<OpenQuota>& quotas,
                   std::vector<OpenQuota>& failed) const {
    Status last;
    for (const OpenQuota& open : quotas) {
      if (open.used == open.quota.status.used) continue;
      Status charged = Charge(ctx, open);
      if (charged.ok()) continue;
      last = std::move(charged);
      failed.push_back(open);
    }
    return last;
  }

  Status Charge(Context& ctx, const OpenQuota& open) const {
    const meta::v1::ObjectMeta& meta = open.quota.metadata;
    const Time now = NowOf(ctx);
    COX_ASSIGN_OR_RETURN(
        const ResourceStore::UpdateResult written,
        store().Update(WriteContext{ctx, Self(), now},
                       {.ns = meta.namespace_,
                        .name = meta.name,
                        .how = quotas_.strategy().Subresource("status"),
                        .change = [&](const Object* existing) -> Result<Object> {
                          const meta::v1::ObjectMeta& found = *existing->object_meta();
                          if (found.resourceVersion != meta.resourceVersion ||
                              found.uid != meta.uid) {
                            return ModifiedError(quotas_.resource(), meta.name);
                          }
                          Object after = *existing;
                          after.As<ResourceQuota>()->status.used = open.used;
                          TrackManagers(quotas_, "status", existing, after, kManager, now);
                          return after;
                        }}));
    COX_ASSIGN_OR_RETURN(const storage::Revision revision,
                         ParseResourceVersion(written.object.object_meta()->resourceVersion));
    storage::Revision last = charged_at_.load();
    while (last < revision && !charged_at_.compare_exchange_weak(last, revision)) {
    }
    return {};
  }

  const ServedResource& quotas_;
  const quota::LimitedResources limited_;
  const Evaluators evaluators_;
  // The revision of the last charge by this server. One value for all namespaces is sufficient: a
  // cache at this revision also contains all earlier charges, and the wait is short.
  mutable std::atomic<storage::Revision> charged_at_ = 0;
  mutable QuotaBatcher batcher_;
};

}  // namespace

Result<quota::LimitedResources> ReadLimitedResources(const Value* configuration) {
  quota::LimitedResources limited;
  if (configuration == nullptr) return limited;
  COX_ASSIGN_OR_RETURN(
      ConfigDocument document,
      ConfigDocument::Of(
          *configuration, "ResourceQuotaConfiguration",
          {"apiserver.config.k8s.io/v1", "resourcequota.admission.k8s.io/v1",
           "resourcequota.admission.k8s.io/v1beta1", "resourcequota.admission.k8s.io/v1alpha1"}));
  for (const ConfigObject& entry : document.root().Objects("limitedResources")) {
    quota::LimitedResource limit{.group = entry.String("apiGroup"),
                                 .resource = entry.RequiredString("resource"),
                                 .match_contains = entry.Strings("matchContains"),
                                 .match_scopes = {}};
    for (const ConfigObject& term : entry.Objects("matchScopes")) {
      quota::Scope scope;
      scope.scopeName = term.RequiredString("scopeName");
      scope.operator_ = term.Choice("operator", {"In", "NotIn", "Exists", "DoesNotExist"});
      scope.values = term.Strings("values");
      limit.match_scopes.push_back(std::move(scope));
    }
    limited.push_back(std::move(limit));
  }
  COX_RETURN_IF_ERROR(document.Finish());
  return limited;
}

std::unique_ptr<const AdmissionPlugin> NewResourceQuota(const Registry& registry,
                                                        quota::LimitedResources limited) {
  return std::make_unique<ResourceQuotaPlugin>(registry, std::move(limited));
}

}  // namespace cox::apiserver
