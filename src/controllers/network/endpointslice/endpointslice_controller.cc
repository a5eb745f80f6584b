// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/endpointslice_controller.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "controllers/network/endpointslice/endpoint_groups.h"
#include "controllers/network/endpointslice/slice_plan.h"
#include "controllers/network/endpointslice/topology/topology_cache.h"
#include "controllers/network/services/service_endpoint.h"
#include "controllers/network/services/service_pods.h"
#include "controllers/shared/namespaces.h"

namespace cox::controllers {
namespace {

using core::v1::Node;
using core::v1::Pod;
using core::v1::Service;
using discovery::v1::Endpoint;
using discovery::v1::EndpointSlice;

constexpr char kControllerName[] = "endpointslice-controller";

// Delay until a Service is reconciled again whose hints depend on nodes that changed meanwhile.
constexpr std::chrono::milliseconds kRequeueForNodes{10};

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
  EndpointSliceReconciler(Manager& manager, std::shared_ptr<TopologyCache> topology)
      : topology_(std::move(topology)),
        client_(manager.client()),
        events_(manager.events()),
        services_(manager.cache().ListerOf<Service>()),
        nodes_(manager.cache().ListerOf<Node>()),
        slices_(manager.cache().IndexOf<EndpointSlice, ByService>()),
        pods_(manager.cache()) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const auto service = services_.Get(key);
    // The garbage collector deletes the slices of a deleted Service.
    if (service == nullptr || service->metadata.deletionTimestamp.has_value() ||
        !HasEndpoints(*service)) {
      (void)topology_->Forget(key);
      return ReconcileResult::Done();
    }
    std::optional<ZoneCpus> cpus;
    if (HasTopologyModeAuto(*service)) {
      COX_ASSIGN_OR_RETURN(cpus, topology_->cpus(ctx));
    }
    Result<ReconcileResult> done = Sync(ctx, *service, cpus);
    if (!done.ok()) {
      events_.Record(*service, EventKind::kWarning, "FailedToUpdateEndpointSlices", "Updating",
                     "Error updating Endpoint Slices for Service " + key.ToString() + ": " +
                         done.status().message());
    }
    return done;
  }

 private:
  // `cpus` has a value for Services with topology-mode Auto.
  Result<ReconcileResult> Sync(Context& ctx, const Service& service,
                               const std::optional<ZoneCpus>& cpus) {
    std::vector<SlicePtr> existing = slices_.Find(KeyOf(service).ToString());
    std::erase_if(existing, [](const SlicePtr& slice) {
      return slice->metadata.deletionTimestamp.has_value();
    });
    std::sort(existing.begin(), existing.end(), [](const SlicePtr& a, const SlicePtr& b) {
      return a->metadata.name < b->metadata.name;
    });
    const auto pods = pods_.PodsOf(service);
    EndpointGroups groups = GroupEndpoints(
        service, pods, [this](const std::string& name) -> std::optional<std::string> {
          const auto node = nodes_.Get({"", name});
          if (node == nullptr) return std::nullopt;
          return ZoneLabelOf(*node);
        });
    const PreviousZones previous(existing);
    TopologyCache::ServiceHints hints;
    if (cpus.has_value()) hints = AddZoneHints(service, *cpus, previous, groups);
    SlicePlan plan = PlanSlices(service, existing, std::move(groups));
    if (!plan.empty()) {
      StampTriggerTime(TriggerTime(service, existing, plan, pods), plan);
      COX_RETURN_IF_ERROR(Write(ctx, std::move(plan)));
    }
    if (!cpus.has_value()) {
      RecordHintsEnd(service, topology_->Forget(KeyOf(service)));
      return ReconcileResult::Done();
    }
    bool are_outdated = false;
    RecordHints(service, hints, topology_->Store(KeyOf(service), hints, are_outdated), previous);
    return are_outdated ? ReconcileResult::After(kRequeueForNodes) : ReconcileResult::Done();
  }

  // The zones of the hints in the existing slices.
  class PreviousZones {
   public:
    explicit PreviousZones(const std::vector<SlicePtr>& slices) {
      for (const SlicePtr& slice : slices) {
        for (const Endpoint& endpoint : slice->endpoints) {
          if (!endpoint.hints.has_value() || endpoint.hints->forZones.empty()) continue;
          families_.insert(slice->addressType);
          zones_.emplace(KeyOfEndpoint(endpoint), endpoint.hints->forZones[0].name);
        }
      }
    }
    std::string Of(const Endpoint& endpoint) const {
      const auto found = zones_.find(KeyOfEndpoint(endpoint));
      return found == zones_.end() ? "" : found->second;
    }
    bool Contain(const std::string& family) const { return families_.contains(family); }

   private:
    static std::string KeyOfEndpoint(const Endpoint& endpoint) {
      return endpoint.addresses.empty() ? "" : endpoint.addresses[0];
    }
    std::map<std::string, std::string> zones_;  // by address
    std::set<std::string> families_;
  };

  static TopologyCache::ServiceHints AddZoneHints(const Service& service, const ZoneCpus& cpus,
                                                  const PreviousZones& previous,
                                                  EndpointGroups& groups) {
    TopologyCache::ServiceHints hints;
    for (const std::string& family : service.spec.ipFamilies) {
      std::vector<Endpoint*> endpoints;
      for (auto& [key, group] : groups) {
        if (key.first != family) continue;
        for (Endpoint& endpoint : group.endpoints) endpoints.push_back(&endpoint);
      }
      hints[family] = AssignZoneHints(
          cpus, endpoints, [&](const Endpoint& endpoint) { return previous.Of(endpoint); });
    }
    return hints;
  }

  // Records an event for each family whose hints were added or removed, or could not be added for
  // another reason than before. After a restart, the existing slices show whether it had hints.
  void RecordHints(const Service& service, const TopologyCache::ServiceHints& hints,
                   const std::optional<TopologyCache::ServiceHints>& before,
                   const PreviousZones& previous) {
    for (const auto& [family, now] : hints) {
      const ZoneHints* old = nullptr;
      if (before.has_value()) {
        const auto found = before->find(family);
        if (found != before->end()) old = &found->second;
      }
      const bool had_hints = old != nullptr ? old->has_hints() : previous.Contain(family);
      if (now.has_hints() && !had_hints) {
        events_.Record(service, EventKind::kNormal, "TopologyAwareHintsEnabled", "Updating",
                       "Topology Aware Hints has been enabled, addressType: " + family);
      } else if (!now.has_hints() && (old == nullptr || old->problem != now.problem)) {
        events_.Record(service, EventKind::kWarning, "TopologyAwareHintsDisabled", "Updating",
                       now.problem + ", addressType: " + family);
      }
    }
  }

  // For a Service that no longer has topology-mode Auto.
  void RecordHintsEnd(const Service& service,
                      const std::optional<TopologyCache::ServiceHints>& before) {
    if (!before.has_value()) return;
    for (const auto& [family, hints] : *before) {
      if (!hints.has_hints()) continue;
      events_.Record(service, EventKind::kWarning, "TopologyAwareHintsDisabled", "Updating",
                     "Topology Aware Hints has been disabled, addressType: " + family);
    }
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

  const std::shared_ptr<TopologyCache> topology_;
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
  const auto topology = std::make_shared<TopologyCache>(manager.cache());
  return ControllerFor<Service>(manager)
      .Named(kControllerName)
      .With({.max_concurrent_reconciles = options.concurrent_syncs})
      .Watches<Pod>([pods](const Pod& pod) { return pods.ServicesOf(pod); }, PublishedPartChanged())
      .Watches<Node>([pods](const Node& node) { return pods.ServicesOnNode(node.metadata.name); },
                     ZoneChanged)
      // A slice that this controller wrote is what the reconcile planned. Changes of others are
      // reverted.
      .Watches<EndpointSlice>(
          [](const EndpointSlice& slice) {
            const ObjectKey key = ServiceOf(slice);
            return key.name.empty() ? std::vector<ObjectKey>() : std::vector<ObjectKey>{key};
          },
          predicates::NotOwnWrites(kControllerName))
      .From(TopologyCache::RequeueOutdated(topology))
      .Complete(std::make_unique<EndpointSliceReconciler>(manager, topology));
}

}  // namespace cox::controllers
