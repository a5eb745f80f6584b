// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/topology/topology_cache.h"

#include <algorithm>
#include <utility>

#include "base/await_stop.h"

namespace cox::controllers {

using core::v1::Node;

TopologyCache::TopologyCache(Cache& cache)
    : handle_(cache.Get(Resource::Of<Node>())->AddHandler([this](const Delta& delta) {
        OnNode(delta);
      })) {}

void TopologyCache::OnNode(const Delta& delta) {
  MutexLock lock(mu_);
  const auto before = As<Node>(delta.before);
  const auto after = As<Node>(delta.after);
  const bool changed = after != nullptr ? nodes_.Set(*after) : nodes_.Remove(before->metadata.name);
  if (changed && enqueue_) EnqueueOutdated();
}

void TopologyCache::EnqueueOutdated() {
  for (const auto& [service, hints] : services_) {
    if (IsAnyOutdated(hints, nodes_.cpus())) enqueue_(service);
  }
}

bool TopologyCache::IsAnyOutdated(const ServiceHints& hints, const ZoneCpus& cpus) {
  return std::any_of(hints.begin(), hints.end(),
                     [&cpus](const auto& family) { return AreOutdated(family.second, cpus); });
}

Result<ZoneCpus> TopologyCache::cpus(Context& ctx) const {
  COX_RETURN_IF_ERROR(handle_.WaitForSync(ctx));
  MutexLock lock(mu_);
  return nodes_.cpus();
}

std::optional<TopologyCache::ServiceHints> TopologyCache::Store(const ObjectKey& service,
                                                                ServiceHints hints,
                                                                bool& are_outdated) {
  MutexLock lock(mu_);
  are_outdated = IsAnyOutdated(hints, nodes_.cpus());
  const auto found = services_.find(service);
  if (found != services_.end()) return std::exchange(found->second, std::move(hints));
  services_.emplace(service, std::move(hints));
  return std::nullopt;
}

std::optional<TopologyCache::ServiceHints> TopologyCache::Forget(const ObjectKey& service) {
  MutexLock lock(mu_);
  const auto node = services_.extract(service);
  if (node.empty()) return std::nullopt;
  return node.mapped();
}

Source TopologyCache::RequeueOutdated(std::shared_ptr<TopologyCache> cache) {
  return [cache = std::move(cache)](Context& ctx, WorkQueue& queue) {
    {
      MutexLock lock(cache->mu_);
      cache->enqueue_ = [&queue](const ObjectKey& key) { queue.Add(key); };
      // Workers start at the same time: nodes may have changed since they stored the first hints.
      cache->EnqueueOutdated();
    }
    (void)AwaitStop(ctx);
    MutexLock lock(cache->mu_);
    cache->enqueue_ = nullptr;
    return Status();
  };
}

}  // namespace cox::controllers
