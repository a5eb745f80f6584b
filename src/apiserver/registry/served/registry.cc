// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/served/registry.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "object/type/kind_names.h"

namespace cox::apiserver {
namespace {

RegisteredKind::Shared SharedParts(const Registry::Options& options) {
  return {.metrics = options.metrics == nullptr
                         ? nullptr
                         : std::make_shared<storage::WatchCacheMetrics>(*options.metrics),
          .encodings = std::make_shared<storage::EncodingBudget>(),
          .root = options.root,
          .ttl = options.event_ttl,
          .watch_cache = options.watch_cache};
}

GroupResource ResourceOf(const KindInfo& kind) {
  return {std::string(kind.group), std::string(kind.plural)};
}

// Adds the resources to the built-in kinds. Kinds that are not stored (reviews, bindings) get none.
std::vector<ServedKind> WithResources(std::vector<ServedKind> kinds,
                                      const std::vector<std::shared_ptr<RegisteredKind>>& stored) {
  std::map<const KindInfo*, const ServedResource*> resources;
  for (const auto& kind : stored) {
    for (const auto& resource : kind->resources()) resources[&resource->kind()] = resource.get();
  }
  for (ServedKind& served : kinds) {
    const auto found = resources.find(served.kind);
    if (found == resources.end()) continue;
    served.resource = found->second->Hold();
    resources.erase(found);
  }
  // Kinds that --runtime-config enables in addition to the defaults.
  for (const auto& [kind, resource] : resources) {
    kinds.push_back({.kind = kind, .storage = {}, .resource = resource->Hold()});
  }
  return kinds;
}

void AppendServedKinds(const RegisteredKind& kind, std::vector<ServedKind>* kinds) {
  for (const auto& resource : kind.resources()) {
    kinds->push_back({.kind = &resource->kind(),
                      .storage = GvkOf(kind.strategy().kind()),
                      .custom = true,
                      .resource = resource->Hold()});
  }
}

}  // namespace

Registry::Registry(const Context& ctx, Options options)
    : ctx_(ctx), options_(std::move(options)), shared_(SharedParts(options_)) {
  for (StrategyPtr& strategy : BuiltinKinds()) {
    builtin_.push_back(MakeKind(std::move(strategy), options_.serves));
    for (const auto& resource : builtin_.back()->resources()) {
      if (resource->version() != nullptr) continue;
      hubs_[{resource->kind().group, resource->kind().plural}] = resource.get();
    }
  }
  served_.Store(std::make_shared<const ServedSet>(WithResources(DefaultServedKinds(), builtin_)));
}

Registry::~Registry() {
  // The caches read through the stores. Resources that are still held do not work any more.
  for (const KindPtr& kind : builtin_) kind->End();
  MutexLock lock(mu_);
  for (const auto& [resource, kind] : custom_) kind->End();
}

Registry::KindPtr Registry::MakeKind(SharedStrategy strategy,
                                     const std::function<bool(const KindInfo&)>& serves) {
  storage::Store& storage = options_.storage(strategy->kind());
  return std::make_shared<RegisteredKind>(ctx_, std::move(strategy), storage, RevisionsOf(storage),
                                          shared_, serves);
}

std::shared_ptr<storage::RevisionReader> Registry::RevisionsOf(storage::Store& store) {
  MutexLock lock(mu_);
  std::shared_ptr<storage::RevisionReader>& revisions = revisions_[&store];
  if (revisions == nullptr) revisions = std::make_shared<storage::RevisionReader>(ctx_, store);
  return revisions;
}

std::shared_ptr<const ServedResource> Registry::Find(std::string_view group,
                                                     std::string_view version,
                                                     std::string_view resource) const {
  const ServedSetPtr now = served();
  const ServedKind* const found = now->Find(group, version, resource);
  return found == nullptr ? nullptr : found->resource;
}

const ServedResource& Registry::Hub(const KindInfo& kind) const {
  const auto found = hubs_.find({kind.group, kind.plural});
  COX_CHECK(found != hubs_.end()) << kind.plural << " is not served";
  return *found->second;
}

bool Registry::IsBuiltin(const KindInfo& kind) const {
  return std::any_of(builtin_.begin(), builtin_.end(), [&](const KindPtr& builtin) {
    return std::any_of(
        builtin->resources().begin(), builtin->resources().end(), [&](const auto& resource) {
          return resource->kind().group == kind.group && resource->kind().plural == kind.plural;
        });
  });
}

Status Registry::Apply(Context& ctx, Changes changes) {
  std::vector<KindPtr> put;
  for (SharedStrategy& strategy : changes.put) {
    if (IsBuiltin(strategy->kind())) {
      return Status::Conflict(ResourceOf(strategy->kind()).ToString() + " is a built-in resource");
    }
    put.push_back(MakeKind(std::move(strategy), nullptr));
  }
  for (const KindPtr& kind : put) {
    if (Status ready = kind->WaitReady(ctx); !ready.ok()) {
      for (const KindPtr& unused : put) unused->End();
      return ready;
    }
  }
  for (const KindPtr& gone : Publish(put, changes.remove)) gone->End();
  return {};
}

std::vector<Registry::KindPtr> Registry::Publish(const std::vector<KindPtr>& put,
                                                 const std::vector<GroupResource>& remove) {
  std::vector<KindPtr> gone;
  std::set<std::string> changed;  // groups
  const auto drop = [&](const GroupResource& resource) COX_REQUIRES(mu_) {
    const auto found = custom_.find(resource);
    if (found == custom_.end()) return;
    for (const auto& version : found->second->resources()) changed.emplace(version->kind().group);
    gone.push_back(std::move(found->second));
    custom_.erase(found);
  };
  MutexLock lock(mu_);
  for (const GroupResource& resource : remove) drop(resource);
  for (const KindPtr& kind : put) {
    const GroupResource resource = ResourceOf(kind->strategy().kind());
    drop(resource);
    custom_[resource] = kind;
    for (const auto& version : kind->resources()) changed.emplace(version->kind().group);
  }
  ServedSet::Groups groups = served_.Load()->groups();
  for (const std::string& name : changed) {
    std::vector<ServedKind> kinds;
    if (const auto old = groups.find(name); old != groups.end()) {
      for (const ServedKind& served : old->second->kinds()) {
        if (!served.custom) kinds.push_back(served);
      }
    }
    for (auto at = custom_.lower_bound({name, ""}); at != custom_.end() && at->first.group == name;
         ++at) {
      AppendServedKinds(*at->second, &kinds);
    }
    if (kinds.empty()) {
      groups.erase(name);
    } else {
      groups[name] = std::make_shared<const ServedGroup>(name, std::move(kinds));
    }
  }
  served_.Store(std::make_shared<const ServedSet>(std::move(groups)));
  return gone;
}

Status Registry::WaitReady(Context& ctx) const {
  for (const KindPtr& kind : builtin_) COX_RETURN_IF_ERROR(kind->WaitReady(ctx));
  return {};
}

bool Registry::ready() const {
  return std::all_of(builtin_.begin(), builtin_.end(),
                     [](const KindPtr& kind) { return kind->ready(); });
}

}  // namespace cox::apiserver
