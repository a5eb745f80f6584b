// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/endpointslice_controller.h"

#include <algorithm>

#include "controllers/network/endpointslice/endpoint_groups.h"
#include "controllers/network/endpointslice/slice_plan.h"
#include "controllers/network/services/service_endpoint.h"
#include "controllers/network/services/service_pods.h"
#include "controllers/shared/namespaces.h"

namespace cox::controllers {
namespace {

using core::v1::Node;
using core::v1::Pod;
using core::v1::Service;
using discovery::v1::EndpointSlice;

constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";

std::string ZoneLabelOf(const Node& node) {
  const std::string* zone = node.metadata.labels.Get(kZoneLabel);
  return zone == nullptr ? "" : *zone;
}

// Returns the Service of a slice that this controller manages; an empty name for other slices.
ObjectKey ServiceOf(const EndpointSlice& slice) {
  const std::string* service = slice.metadata.labels.Get(kServiceNameLabel);
  const std::string* manager = slice.metadata.labels.Get(kManagedByLabel);
  if (service == nullptr || manager == nullptr || *manager != kManagedByUs) return {};
  return {slice.metadata.namespace_, *service};
}

struct ByService {
  static constexpr std::string_view kName = "service of our slices";
  static std::string Of(const EndpointSlice& slice) {
    const ObjectKey key = ServiceOf(slice);
    return key.name.empty() ? "" : key.ToString();
  }
};

class EndpointSliceReconciler final : public Reconciler {
 public:
  explicit EndpointSliceReconciler(Manager& manager)
      : client_(manager.client()),
        events_(manager.events()),
        services_(manager.cache().ListerOf<Service>()),
        nodes_(manager.cache().ListerOf<Node>()),
        slices_(manager.cache().IndexOf<EndpointSlice, ByService>()),
        pods_(manager.cache()) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const auto service = services_.Get(key);
    // The garbage collector deletes the slices of a deleted Service.
    if (service == nullptr || service->metadata.deletionTimestamp.has_value()) {
      return ReconcileResult::Done();
    }
    if (!HasEndpoints(*service)) return ReconcileResult::Done();
    const Status done = Sync(ctx, *service);
    if (!done.ok()) {
      events_.Record(
          *service, EventKind::kWarning, "FailedToUpdateEndpointSlices", "Updating",
          "Error updating Endpoint Slices for Service " + key.ToString() + ": " + done.message());
      return done;
    }
    return ReconcileResult::Done();
  }

 private:
  Status Sync(Context& ctx, const Service& service) {
    std::vector<SlicePtr> existing = slices_.Find(KeyOf(service).ToString());
    std::erase_if(existing, [](const SlicePtr& slice) {
      return slice->metadata.deletionTimestamp.has_value();
    });
    std::sort(existing.begin(), existing.end(), [](const SlicePtr& a, const SlicePtr& b) {
      return a->metadata.name < b->metadata.name;
    });
    const auto pods = pods_.PodsOf(service);
    SlicePlan plan =
        PlanSlices(service, existing,
                   GroupEndpoints(service, pods,
                                  [this](const std::string& name) -> std::optional<std::string> {
                                    const auto node = nodes_.Get({"", name});
                                    if (node == nullptr) return std::nullopt;
                                    return ZoneLabelOf(*node);
                                  }));
    if (plan.empty()) return {};
    StampTriggerTime(TriggerTime(service, existing, plan, pods), plan);
    return Write(ctx, std::move(plan));
  }

  // Additions before removals: a client may see an endpoint twice in between, but never misses one.
  Status Write(Context& ctx, SlicePlan plan) {
    for (EndpointSlice& slice : plan.create) {
      COX_RETURN_IF_ERROR(
          IgnoreNamespaceTerminating(client_.Create(ctx, std::move(slice)).status()));
    }
    for (EndpointSlice& slice : plan.update) {
      COX_RETURN_IF_ERROR(client_.Update(ctx, std::move(slice)).status());
    }
    for (const SlicePtr& slice : plan.remove) {
      const Status removed =
          client_.Delete<EndpointSlice>(ctx, KeyOf(*slice), {.uid = slice->metadata.uid});
      if (!removed.ok() && !removed.Is(Reason::kNotFound)) return removed;
    }
    return {};
  }

  Client& client_;
  EventRecorder& events_;
  const Lister<Service> services_;
  const Lister<Node> nodes_;
  const Index<EndpointSlice, ByService> slices_;
  const ServicePods pods_;
};

// Passes nodes that are added, because their Pods were left out before, and changes of the zone.
bool ZoneChanged(const Delta& delta) {
  if (delta.after == nullptr) return false;
  if (delta.before == nullptr) return !delta.initial && delta.type == Delta::Type::kAdded;
  const Node* before = delta.before->As<Node>();
  const Node* after = delta.after->As<Node>();
  return before != nullptr && after != nullptr && ZoneLabelOf(*before) != ZoneLabelOf(*after);
}

}  // namespace

Status AddEndpointSliceController(Manager& manager, const EndpointSliceOptions& options) {
  const ServicePods pods(manager.cache());
  return ControllerFor<Service>(manager)
      .Named("endpointslice-controller")
      .With({.max_concurrent_reconciles = options.concurrent_syncs})
      .Watches<Pod>([pods](const Pod& pod) { return pods.ServicesOf(pod); }, PublishedPartChanged())
      .Watches<Node>([pods](const Node& node) { return pods.ServicesOnNode(node.metadata.name); },
                     ZoneChanged)
      .Watches<EndpointSlice>([](const EndpointSlice& slice) {
        const ObjectKey key = ServiceOf(slice);
        return key.name.empty() ? std::vector<ObjectKey>() : std::vector<ObjectKey>{key};
      })
      .Complete(std::make_unique<EndpointSliceReconciler>(manager));
}

}  // namespace cox::controllers
