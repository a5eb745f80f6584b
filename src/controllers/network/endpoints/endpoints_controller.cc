// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpoints/endpoints_controller.h"

#include <algorithm>
#include <set>

#include "controllers/network/endpoints/subsets.h"
#include "controllers/network/services/service_endpoint.h"
#include "controllers/network/services/service_pods.h"
#include "controllers/shared/namespaces.h"
#include "controllers/shared/pods/pacer.h"
#include "object/type/equal.h"

namespace cox::controllers {
namespace {

using core::v1::EndpointAddress;
using core::v1::Endpoints;
using core::v1::EndpointSubset;
using core::v1::Pod;
using core::v1::Service;

constexpr std::string_view kManagedByLabel = "endpoints.kubernetes.io/managed-by";
constexpr std::string_view kManagedByUs = "endpoint-controller";
constexpr std::string_view kOverCapacityAnnotation = "endpoints.kubernetes.io/over-capacity";

bool IsOurs(const Endpoints& endpoints) {
  const std::string* manager = endpoints.metadata.labels.Get(kManagedByLabel);
  return manager != nullptr && *manager == kManagedByUs;
}

// Computes the desired object; annotations of other writers are kept.
Endpoints Desired(const Service& service, const std::vector<std::shared_ptr<const Pod>>& pods,
                  const Endpoints& current) {
  Endpoints wanted = current;
  wanted.metadata.name = service.metadata.name;
  wanted.metadata.namespace_ = service.metadata.namespace_;
  wanted.metadata.labels = service.metadata.labels;
  wanted.metadata.labels.erase(kHeadlessLabel);
  if (IsHeadless(service)) wanted.metadata.labels[kHeadlessLabel] = "";
  wanted.metadata.labels[kManagedByLabel] = std::string(kManagedByUs);
  wanted.subsets = SubsetsOf(service, pods);
  if (Truncate(wanted.subsets)) {
    wanted.metadata.annotations[kOverCapacityAnnotation] = "truncated";
  } else {
    wanted.metadata.annotations.erase(kOverCapacityAnnotation);
  }
  return wanted;
}

// Returns the uids of the published Pods and whether they are ready.
std::set<std::pair<std::string, bool>> Published(const Endpoints& endpoints) {
  std::set<std::pair<std::string, bool>> out;
  for (const EndpointSubset& subset : endpoints.subsets) {
    for (const EndpointAddress& address : subset.addresses) {
      if (address.targetRef) out.emplace(address.targetRef->uid, true);
    }
    for (const EndpointAddress& address : subset.notReadyAddresses) {
      if (address.targetRef) out.emplace(address.targetRef->uid, false);
    }
  }
  return out;
}

// Sets the trigger time: the earliest readiness transition of the new or changed Pods, or the
// creation time of a new Service.
void StampTriggerTime(const Service& service, const std::vector<std::shared_ptr<const Pod>>& pods,
                      const Endpoints& current, Endpoints& wanted) {
  Time earliest;
  if (current.metadata.resourceVersion.empty()) {
    earliest = service.metadata.creationTimestamp;
  } else {
    const auto before = Published(current);
    std::set<std::string> changed;
    for (const auto& entry : Published(wanted)) {
      if (!before.contains(entry)) changed.insert(entry.first);
    }
    for (const auto& pod : pods) {
      const Time since = ReadinessSince(*pod);
      if (!changed.contains(pod->metadata.uid) || since.IsZero()) continue;
      if (earliest.IsZero() || since < earliest) earliest = since;
    }
  }
  if (earliest.IsZero()) {
    wanted.metadata.annotations.erase(kTriggerTimeAnnotation);
  } else {
    wanted.metadata.annotations[kTriggerTimeAnnotation] = earliest.ToString();
  }
}

class EndpointsReconciler final : public Reconciler {
 public:
  explicit EndpointsReconciler(Manager& manager)
      : client_(manager.client()),
        events_(manager.events()),
        services_(manager.cache().ListerOf<Service>()),
        endpoints_(manager.cache().ListerOf<Endpoints>()),
        pods_(manager.cache()),
        pacer_(manager.context().clock()) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const auto service = services_.Get(key);
    const auto current = endpoints_.Get(key);
    if (service == nullptr) {
      pacer_.Forget(key);
      // Endpoints without a Service that have another manager are kept.
      if (current != nullptr && IsOurs(*current)) {
        const Status gone = client_.Delete<Endpoints>(ctx, key, {.uid = current->metadata.uid});
        if (!gone.ok() && !gone.Is(Reason::kNotFound)) return gone;
      }
      return ReconcileResult::Done();
    }
    if (service->metadata.deletionTimestamp.has_value() || !HasEndpoints(*service)) {
      return ReconcileResult::Done();
    }
    const Clock::Duration wait = pacer_.WaitFor(key, VersionOf(*service));
    if (wait > Clock::Duration()) return ReconcileResult::After(wait);
    COX_RETURN_IF_ERROR(Sync(ctx, *service, current.get()));
    return ReconcileResult::Done();
  }

 private:
  Status Sync(Context& ctx, const Service& service, const Endpoints* current) {
    const auto pods = pods_.PodsOf(service);
    COX_RETURN_IF_ERROR(Write(ctx, service, pods, current));
    // Not after a failed write, whose retry must have the delay of a failure.
    pacer_.Settled(KeyOf(service), VersionOf(service), pods.size());
    return {};
  }
  Status Write(Context& ctx, const Service& service,
               const std::vector<std::shared_ptr<const Pod>>& pods, const Endpoints* current) {
    const Endpoints before = current == nullptr ? Endpoints() : *current;
    Endpoints wanted = Desired(service, pods, before);
    if (current != nullptr && DeepEqual(before, wanted)) return {};
    StampTriggerTime(service, pods, before, wanted);
    if (current != nullptr) {
      const Status updated = client_.Update(ctx, std::move(wanted)).status();
      if (!updated.ok() && !updated.Is(Reason::kConflict)) {
        Report(service, "FailedToUpdateEndpoint", "update", updated);
      }
      return updated;
    }
    const Status created =
        IgnoreNamespaceTerminating(client_.Create(ctx, std::move(wanted)).status());
    if (!created.ok()) Report(service, "FailedToCreateEndpoint", "create", created);
    return created;
  }
  void Report(const Service& service, std::string_view reason, std::string_view verb,
              const Status& why) {
    events_.Record(service, EventKind::kWarning, reason, "Updating",
                   "Failed to " + std::string(verb) + " endpoint " + KeyOf(service).ToString() +
                       ": " + why.message());
  }

  Client& client_;
  EventRecorder& events_;
  const Lister<Service> services_;
  const Lister<Endpoints> endpoints_;
  const ServicePods pods_;
  pods::Pacer pacer_;
};

}  // namespace

Status AddEndpointsController(Manager& manager, const EndpointsOptions& options) {
  const ServicePods pods(manager.cache());
  return ControllerFor<Service>(manager)
      .Named("endpoints-controller")
      .With({.max_concurrent_reconciles = options.concurrent_syncs})
      .Watches<Pod>([pods](const Pod& pod) { return pods.ServicesOf(pod); }, PublishedPartChanged())
      .Watches<Endpoints>(
          [](const Endpoints& endpoints) { return std::vector<ObjectKey>{KeyOf(endpoints)}; })
      .Complete(std::make_unique<EndpointsReconciler>(manager));
}

}  // namespace cox::controllers
