// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "controllers/network/endpointslice/topology/zone_capacity.h"
#include "controllers/network/endpointslice/topology/zone_hints.h"
#include "coxswain/cache.h"
#include "coxswain/controller.h"

namespace cox::controllers {

// Follows the CPU of the zones and the hints of the Services with topology-mode Auto, and enqueues
// the Services whose hints are outdated by a change of nodes.
//
// Guarantees: a change of a node that changes no zone's CPU enqueues nothing. Other changes cost
//   one comparison for each Service with topology-mode Auto, not one for each node or endpoint.
// Threads: all methods may be called concurrently.
class TopologyCache {
 public:
  // By address family.
  using ServiceHints = std::map<std::string, ZoneHints>;

  explicit TopologyCache(Cache& cache);

  // Waits until all nodes of the initial list are known: hints that were computed before would be
  // removed from all Services after a restart. Returns the reason if `ctx` stops first.
  Result<ZoneCpus> cpus(Context& ctx) const;
  // Replaces the hints of a Service and returns those before, if any. `are_outdated` is set if the
  // nodes changed since they were computed.
  std::optional<ServiceHints> Store(const ObjectKey& service, ServiceHints hints,
                                    bool& are_outdated);
  // For a Service without topology-mode Auto. Returns the hints that it had.
  std::optional<ServiceHints> Forget(const ObjectKey& service);

  // Enqueues Services while it runs.
  static Source RequeueOutdated(std::shared_ptr<TopologyCache> cache);

 private:
  void OnNode(const Delta& delta);
  // REQUIRES: a source runs.
  void EnqueueOutdated() COX_REQUIRES(mu_);
  static bool IsAnyOutdated(const ServiceHints& hints, const ZoneCpus& cpus);

  mutable Mutex mu_;
  ZoneCapacity nodes_ COX_GUARDED_BY(mu_);
  std::map<ObjectKey, ServiceHints> services_ COX_GUARDED_BY(mu_);
  std::function<void(const ObjectKey&)> enqueue_ COX_GUARDED_BY(mu_);  // null while no source runs
  InformerHandle handle_;  // last, because its handler uses the others
};

}  // namespace cox::controllers
