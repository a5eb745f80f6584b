// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/garbagecollector/monitors.h"

#include <set>
#include <utility>

namespace cox::controllers::gc {
namespace {

using meta::v1::ObjectMeta;

// Delay between the write of a CRD or APIService and the time when its kinds are served.
constexpr Clock::Duration kServedAfter = std::chrono::seconds(1);
// Interval of discovery for kinds without such an event, for example after a server upgrade.
constexpr Clock::Duration kDiscoveryInterval = std::chrono::seconds(60);

// CRDs and APIServices, which define kinds.
bool AnnouncesKinds(const Resource& resource) {
  return resource.ToString() == "customresourcedefinitions.apiextensions.k8s.io" ||
         resource.ToString() == "apiservices.apiregistration.k8s.io";
}

// Drops all metadata that the graph does not read.
void KeepOwnersAlone(Object& object) {
  ObjectMeta* meta = object.object_meta();
  if (meta == nullptr) return;
  ObjectMeta kept;
  kept.name = std::move(meta->name);
  kept.namespace_ = std::move(meta->namespace_);
  kept.uid = std::move(meta->uid);
  kept.resourceVersion = std::move(meta->resourceVersion);
  kept.deletionTimestamp = meta->deletionTimestamp;
  kept.ownerReferences = std::move(meta->ownerReferences);
  kept.finalizers = std::move(meta->finalizers);
  *meta = std::move(kept);
}

}  // namespace

Monitors::Monitors(Client& client, Cache& whole, Cache& metadata, Graph& graph, Kinds& kinds,
                   NotifyFunc notify)
    : client_(client),
      whole_(whole),
      metadata_(metadata),
      graph_(graph),
      kinds_(kinds),
      notify_(std::move(notify)) {}

CacheOptions Monitors::MetadataOptions() {
  CacheOptions options;
  options.defaults.transform = KeepOwnersAlone;
  options.defaults.keep = CacheScope::Keep::kBytes;
  return options;
}

Status Monitors::Refresh(Context& ctx) {
  COX_ASSIGN_OR_RETURN(const ServedResources served, DiscoverAll(ctx, client_));
  kinds_.Replace(served);
  const std::vector<Resource> watchable = Watchable(served);
  std::set<GroupVersionKind> wanted;
  for (const Resource& resource : watchable) wanted.insert(resource.gvk);
  std::set<std::string> unknown;
  for (const auto& [version, why] : served.failed) unknown.insert(version.group);
  for (auto at = monitors_.begin(); at != monitors_.end();) {
    if (wanted.contains(at->first) || unknown.contains(at->first.group)) {
      ++at;
      continue;
    }
    const Resource resource = at->second.informer->resource();
    const bool own = at->second.own;
    at = monitors_.erase(at);
    if (own) metadata_.Remove(resource);
  }
  // Started after the removals, so that a kind is not watched in two versions.
  for (const Resource& resource : watchable) {
    if (!monitors_.contains(resource.gvk)) Start(resource);
  }
  for (auto& [gvk, monitor] : monitors_) SettleInheritance(monitor);
  return {};
}

void Monitors::SettleInheritance(Monitor& monitor) {
  if (monitor.inherited.empty() || !monitor.informer->HasSynced() || !monitor.handle.synced()) {
    return;
  }
  std::set<std::string> present;
  for (const ObjectPtr& object : monitor.informer->List("", {})) {
    if (const ObjectMeta* meta = object->object_meta()) present.insert(meta->uid);
  }
  for (const std::string& uid : monitor.inherited) {
    if (!present.contains(uid)) notify_(graph_.Forget(uid));
  }
  monitor.inherited.clear();
}

void Monitors::Start(const Resource& resource) {
  Monitor monitor;
  monitor.informer = whole_.Find(resource);
  monitor.own = monitor.informer == nullptr;
  if (monitor.own) monitor.informer = metadata_.GetMetadata(resource);
  monitor.inherited = graph_.OfKind(resource.gvk);
  monitor.handle = monitor.informer->AddHandler(
      [this, resource, announces = AnnouncesKinds(resource)](const Delta& delta) {
        OnDelta(resource, announces, delta);
      });
  monitors_.emplace(resource.gvk, std::move(monitor));
}

void Monitors::OnDelta(const Resource& resource, bool announces_kinds, const Delta& delta) {
  const ObjectMeta* before = delta.before == nullptr ? nullptr : delta.before->object_meta();
  const ObjectMeta* after = delta.after == nullptr ? nullptr : delta.after->object_meta();
  if (before != nullptr && (after == nullptr || after->uid != before->uid)) {
    notify_(graph_.Forget(before->uid));
  }
  // Resyncs are processed too, so that objects that were missed are enqueued again.
  if (after != nullptr) notify_(graph_.Observe(resource.gvk, *after));
  if (announces_kinds && !delta.initial) kinds_changed_.Notify();
}

Status Monitors::WaitSynced(Context& ctx) const {
  for (const auto& [gvk, monitor] : monitors_) {
    COX_RETURN_IF_ERROR(monitor.handle.WaitForSync(ctx));
  }
  return {};
}

void Monitors::AwaitKindChange(const Context& ctx) {
  kinds_changed_.Await(ctx, kDiscoveryInterval);
  (void)ctx.Sleep(kServedAfter);
}

}  // namespace cox::controllers::gc
