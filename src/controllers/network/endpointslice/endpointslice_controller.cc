// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/endpointslice_controller.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controllers/network/endpointslice/endpoint_groups.h"
#include "controllers/network/endpointslice/slice_changes.h"
#include "controllers/network/endpointslice/slice_index.h"
#include "controllers/network/endpointslice/slice_metrics.h"
#include "controllers/network/endpointslice/slice_plan.h"
#include "controllers/network/endpointslice/topology/topology_cache.h"
#include "controllers/network/services/service_endpoint.h"
#include "controllers/network/services/service_pods.h"
#include "controllers/shared/namespaces.h"
#include "controllers/shared/pods/pacer.h"

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

// From this number of Pods on, the slices of a Service are remembered, so that a sync handles only
// the changed Pods. For fewer Pods a complete sync is cheap.
constexpr size_t kLarge = 200;
// A sync handles only the changed Pods if they are at most this part of the endpoints.
constexpr size_t kSmallPart = 4;

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
  EndpointSliceReconciler(Manager& manager, std::shared_ptr<TopologyCache> topology,
                          std::shared_ptr<ChangedPods> changed)
      : topology_(std::move(topology)),
        changed_(std::move(changed)),
        client_(manager.client()),
        events_(manager.events()),
        services_(manager.cache().ListerOf<Service>()),
        nodes_(manager.cache().ListerOf<Node>()),
        slices_(manager.cache().IndexOf<EndpointSlice, ByService>()),
        slice_lister_(manager.cache().ListerOf<EndpointSlice>()),
        all_pods_(manager.cache().ListerOf<Pod>()),
        pods_(manager.cache()),
        pacer_(manager.context().clock()),
        metrics_(manager.metrics()) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const auto service = services_.Get(key);
    // The garbage collector deletes the slices of a deleted Service.
    if (service == nullptr || service->metadata.deletionTimestamp.has_value() ||
        !HasEndpoints(*service)) {
      (void)topology_->Forget(key);
      (void)changed_->Take(key);
      (void)TakeSynced(key);
      pacer_.Forget(key);
      metrics_.Forget(key);
      return ReconcileResult::Done();
    }
    const Clock::Duration wait = pacer_.WaitFor(key, VersionOf(*service));
    if (wait > Clock::Duration()) return ReconcileResult::After(wait);
    std::optional<ZoneCpus> cpus;
    if (HasTopologyModeAuto(*service)) {
      COX_ASSIGN_OR_RETURN(cpus, topology_->cpus(ctx));
    }
    Result<ReconcileResult> done = Sync(ctx, service, cpus);
    if (!done.ok()) {
      events_.Record(*service, EventKind::kWarning, "FailedToUpdateEndpointSlices", "Updating",
                     "Error updating Endpoint Slices for Service " + key.ToString() + ": " +
                         done.status().message());
    }
    return done;
  }

 private:
  using ServicePtr = std::shared_ptr<const Service>;
  // The slices after the last sync of a large Service, for syncs that handle only the changed Pods.
  struct Synced {
    ServicePtr service;
    SliceIndex slices;
    GroupSizes sizes;
  };
  // The resourceVersions of the slices that were written, by name.
  using Versions = std::map<std::string, std::string>;

  // `cpus` has a value for Services with topology-mode Auto.
  Result<ReconcileResult> Sync(Context& ctx, const ServicePtr& service,
                               const std::optional<ZoneCpus>& cpus) {
    const ObjectKey key = KeyOf(*service);
    // Before the cache is read. If this sync fails, nothing is stored, and the next one reads all.
    const ChangedPods::Changes changes = changed_->Take(key);
    std::unique_ptr<Synced> synced = TakeSynced(key);
    const std::vector<SlicePtr> existing = SlicesOf(key);
    if (synced != nullptr && !changes.all && !cpus.has_value() &&
        synced->service->metadata.resourceVersion == service->metadata.resourceVersion &&
        changes.pods.size() * kSmallPart <= synced->slices.endpoints() &&
        synced->slices.HasSameVersions(existing)) {
      COX_ASSIGN_OR_RETURN(const bool done, SyncChanged(ctx, changes.pods, *synced));
      if (done) {
        StoreSynced(key, std::move(synced));
        return ReconcileResult::Done();
      }
    }
    return SyncAll(ctx, service, existing, cpus);
  }

  // Returns the slices by name.
  std::vector<SlicePtr> SlicesOf(const ObjectKey& key) const {
    std::vector<SlicePtr> slices = slices_.Find(key.ToString());
    std::erase_if(slices, [](const SlicePtr& slice) {
      return slice->metadata.deletionTimestamp.has_value();
    });
    std::sort(slices.begin(), slices.end(), [](const SlicePtr& a, const SlicePtr& b) {
      return a->metadata.name < b->metadata.name;
    });
    return slices;
  }

  EndpointGroups Group(const Service& service,
                       const std::vector<std::shared_ptr<const Pod>>& pods) const {
    return GroupEndpoints(service, pods,
                          [this](const std::string& name) -> std::optional<std::string> {
                            const auto node = nodes_.Get({"", name});
                            if (node == nullptr) return std::nullopt;
                            return ZoneLabelOf(*node);
                          });
  }

  // Syncs the endpoints of the changed Pods. Returns false if all endpoints have to be synced.
  Result<bool> SyncChanged(Context& ctx, const std::set<std::string>& changed, Synced& synced) {
    const Service& service = *synced.service;
    std::vector<std::shared_ptr<const Pod>> pods;
    for (const std::string& name : changed) {
      const auto pod = all_pods_.Get({service.metadata.namespace_, name});
      if (pod == nullptr || !Selects(service.spec.selector, pod->metadata.labels)) continue;
      pods.push_back(pod);
    }
    auto planned = PlanChanges(service, synced.slices, changed, Group(service, pods));
    if (!planned.has_value()) return false;
    const EndpointChanges changes = ChangesOf(planned->existing, planned->plan);
    for (const auto& [group, growth] : changes.by_group) {
      synced.sizes[group] += static_cast<size_t>(growth);
    }
    const size_t slices = synced.slices.slices().size() + planned->plan.create.size();
    if (planned->plan.empty()) {
      metrics_.Synced(service, synced.sizes, slices, changes);
      return true;
    }
    if (planned->existing.empty()) {
      // TriggerTime treats a Service without slices as new.
      planned->existing.push_back(synced.slices.slices().begin()->second);
    }
    StampTriggerTime(TriggerTime(service, planned->existing, planned->plan, pods), planned->plan);
    COX_ASSIGN_OR_RETURN(const Versions written, Write(ctx, std::move(planned->plan)));
    pacer_.Settled(KeyOf(service), VersionOf(service), synced.slices.endpoints());
    metrics_.Synced(service, synced.sizes, slices, changes);
    for (const auto& [name, version] : written) {
      SlicePtr slice = slice_lister_.Get({service.metadata.namespace_, name});
      // Another client has changed it meanwhile: the next sync reads all Pods.
      if (slice == nullptr || slice->metadata.resourceVersion != version) {
        changed_->AddAll(KeyOf(service));
        continue;
      }
      synced.slices.Put(std::move(slice));
    }
    return true;
  }

  Result<ReconcileResult> SyncAll(Context& ctx, const ServicePtr& owner,
                                  const std::vector<SlicePtr>& existing,
                                  const std::optional<ZoneCpus>& cpus) {
    const Service& service = *owner;
    const auto pods = pods_.PodsOf(service);
    EndpointGroups groups = Group(service, pods);
    const PreviousZones previous(existing);
    TopologyCache::ServiceHints hints;
    if (cpus.has_value()) hints = AddZoneHints(service, *cpus, previous, groups);
    GroupSizes sizes = SizesOf(groups);
    SlicePlan plan = PlanSlices(service, existing, std::move(groups));
    const EndpointChanges changes = ChangesOf(existing, plan);
    const size_t expected = existing.size() + plan.create.size() - plan.remove.size();
    Versions written;
    if (!plan.empty()) {
      StampTriggerTime(TriggerTime(service, existing, plan, pods), plan);
      COX_ASSIGN_OR_RETURN(written, Write(ctx, std::move(plan)));
    }
    pacer_.Settled(KeyOf(service), VersionOf(service), pods.size());
    metrics_.Synced(service, sizes, expected, changes);
    if (!cpus.has_value()) {
      if (pods.size() >= kLarge) Remember(owner, existing, written, expected, std::move(sizes));
      RecordHintsEnd(service, topology_->Forget(KeyOf(service)));
      return ReconcileResult::Done();
    }
    bool are_outdated = false;
    RecordHints(service, hints, topology_->Store(KeyOf(service), hints, are_outdated), previous);
    return are_outdated ? ReconcileResult::After(kRequeueForNodes) : ReconcileResult::Done();
  }

  // Remembers the slices after a complete sync, unless another client has changed, created or
  // deleted one meanwhile. `expected`: the number of slices.
  void Remember(const ServicePtr& service, const std::vector<SlicePtr>& existing,
                const Versions& written, size_t expected, GroupSizes sizes) {
    const ObjectKey key = KeyOf(*service);
    const std::vector<SlicePtr> now = SlicesOf(key);
    if (now.size() != expected) return;
    for (const SlicePtr& slice : now) {
      const auto ours = written.find(slice->metadata.name);
      const bool same =
          ours != written.end()
              ? ours->second == slice->metadata.resourceVersion
              : std::any_of(existing.begin(), existing.end(),
                            [&](const SlicePtr& was) { return IsSameVersion(*was, *slice); });
      if (!same) return;
    }
    StoreSynced(key, std::make_unique<Synced>(Synced{service, SliceIndex(now), std::move(sizes)}));
  }

  // Null if nothing is synced. A Service is synced by one thread at a time.
  std::unique_ptr<Synced> TakeSynced(const ObjectKey& key) {
    MutexLock lock(mu_);
    const auto node = synced_.extract(key);
    return node.empty() ? nullptr : std::move(node.mapped());
  }
  void StoreSynced(const ObjectKey& key, std::unique_ptr<Synced> synced) {
    MutexLock lock(mu_);
    synced_[key] = std::move(synced);
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
  Result<Versions> Write(Context& ctx, SlicePlan plan) {
    Versions written;
    const auto note = [&written](const EndpointSlice& slice) {
      written[slice.metadata.name] = slice.metadata.resourceVersion;
    };
    for (EndpointSlice& slice : plan.create) {
      const Result<EndpointSlice> created = client_.Create(ctx, std::move(slice));
      COX_RETURN_IF_ERROR(IgnoreNamespaceTerminating(created.status()));
      if (created.ok()) note(*created);
    }
    for (EndpointSlice& slice : plan.update) {
      COX_ASSIGN_OR_RETURN(const EndpointSlice updated, client_.Update(ctx, std::move(slice)));
      note(updated);
    }
    for (const SlicePtr& slice : plan.remove) {
      const Status removed =
          client_.Delete<EndpointSlice>(ctx, KeyOf(*slice), {.uid = slice->metadata.uid});
      if (!removed.ok() && !removed.Is(Reason::kNotFound)) return removed;
    }
    return written;
  }

  const std::shared_ptr<TopologyCache> topology_;
  const std::shared_ptr<ChangedPods> changed_;
  Client& client_;
  EventRecorder& events_;
  const Lister<Service> services_;
  const Lister<Node> nodes_;
  const Index<EndpointSlice, ByService> slices_;
  const Lister<EndpointSlice> slice_lister_;
  const Lister<Pod> all_pods_;
  const ServicePods pods_;
  pods::Pacer pacer_;
  SliceMetrics metrics_;
  Mutex mu_;
  std::unordered_map<ObjectKey, std::unique_ptr<Synced>> synced_ COX_GUARDED_BY(mu_);
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
  const auto changed = std::make_shared<ChangedPods>();
  return ControllerFor<Service>(manager)
      .Named(kControllerName)
      .With({.max_concurrent_reconciles = options.concurrent_syncs})
      .Watches<Pod>(
          [pods, changed](const Pod& pod) {
            std::vector<ObjectKey> services = pods.ServicesOf(pod);
            for (const ObjectKey& service : services) changed->Add(service, pod.metadata.name);
            return services;
          },
          PublishedPartChanged())
      .Watches<Node>(
          [pods, changed](const Node& node) {
            std::vector<ObjectKey> services = pods.ServicesOnNode(node.metadata.name);
            for (const ObjectKey& service : services) changed->AddAll(service);
            return services;
          },
          ZoneChanged)
      // A slice that this controller wrote is what the reconcile planned. Changes of others are
      // reverted.
      .Watches<EndpointSlice>(
          [](const EndpointSlice& slice) {
            const ObjectKey key = ServiceOf(slice);
            return key.name.empty() ? std::vector<ObjectKey>() : std::vector<ObjectKey>{key};
          },
          predicates::NotOwnWrites(kControllerName))
      // A resync reads all Pods, so that it corrects a slice that is wrong.
      .Filter([changed](const Delta& delta) {
        if (delta.type == Delta::Type::kResync && delta.after->As<Service>() != nullptr) {
          changed->AddAll(HeadOf(*delta.after).key);
        }
        return true;
      })
      .From(TopologyCache::RequeueOutdated(topology))
      .Complete(std::make_unique<EndpointSliceReconciler>(manager, topology, changed));
}

}  // namespace cox::controllers
