// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coxswain/predicate.h"
#include "coxswain/reconciler.h"
#include "coxswain/work_queue.h"

namespace cox {

class Manager;

struct ControllerOptions {
  int max_concurrent_reconciles = 1;
  Clock::Duration reconcile_timeout{};   // 0: no limit
  std::unique_ptr<RateLimiter> limiter;  // null: DefaultRateLimiter
  bool needs_leader_election = true;
  // Skip reconciles that are caused only by the reconciler's own writes.
  bool ignore_own_writes = false;
  // Initial lists and resyncs get a lower priority than changes.
  bool priorities = true;
};

// Maps an object to the keys of the controller's kind that it affects.
using MapFunction = std::function<std::vector<ObjectKey>(const Object&)>;

// Adds keys from a source other than a watch: a timer, a channel, an external system. Runs until
// `ctx` stops.
using Source = std::function<Status(Context& ctx, WorkQueue& queue)>;
// Adds all keys that `list` returns, immediately and then every `period`.
Source Every(Clock::Duration period, std::function<std::vector<ObjectKey>()> list);

// Declares what a controller watches; Complete registers the controller with the manager.
//
//   return ControllerFor<Website>(manager)
//       .Owns<apps::v1::Deployment>()
//       .Watches<core::v1::ConfigMap>([](const core::v1::ConfigMap& map) { ... return keys; })
//       .With({.max_concurrent_reconciles = 4})
//       .Complete(std::make_unique<WebsiteReconciler>(manager));
//
// Each declared kind gets an informer in the manager's cache. The workers start after all informers
// have synced (and this process is the leader).
class ControllerBuilder {
 public:
  ControllerBuilder(Manager& manager, Resource resource);

  ControllerBuilder& Named(std::string name);  // default: the kind in lower case
  ControllerBuilder& With(ControllerOptions options);
  // Applies to all watched kinds, in addition to the predicate of each kind.
  ControllerBuilder& Filter(Predicate predicate);
  // Watches and caches only the metadata of the controller's own kind.
  ControllerBuilder& OnlyMetadata();

  template <class T>
  ControllerBuilder& Owns(const Predicate& predicate = nullptr) {
    return OwnsResource(Resource::Of<T>(), predicate);
  }
  template <class T>
  ControllerBuilder& Watches(std::function<std::vector<ObjectKey>(const T&)> map,
                             const Predicate& predicate = nullptr) {
    return WatchesResource(
        Resource::Of<T>(),
        [map = std::move(map)](const Object& object) {
          const T* typed = object.As<T>();
          return typed == nullptr ? std::vector<ObjectKey>() : map(*typed);
        },
        predicate);
  }
  // Reconciles the controlling owner, of the controller's kind, of each changed object.
  ControllerBuilder& OwnsResource(Resource resource, Predicate predicate = nullptr);
  ControllerBuilder& WatchesResource(Resource resource, MapFunction map,
                                     Predicate predicate = nullptr);
  // As WatchesResource, but caches only metadata; objects are PartialObjectMetadata.
  ControllerBuilder& WatchesMetadata(Resource resource, MapFunction map,
                                     Predicate predicate = nullptr);
  // Watches an informer of another cache, for example of another cluster (Manager::AddCluster).
  ControllerBuilder& WatchesInformer(std::shared_ptr<SharedInformer> informer, MapFunction map,
                                     Predicate predicate = nullptr);
  ControllerBuilder& From(Source source);

  // BadRequest if a controller with this name exists or there is no reconciler.
  Status Complete(std::unique_ptr<Reconciler> reconciler);
  Status Complete(ReconcileFunction function) {
    return Complete(MakeReconciler(std::move(function)));
  }

 private:
  struct Watched {
    Resource resource;
    MapFunction map;  // null: the object's own key, or its owner's if `owned`
    Predicate predicate;
    bool owned = false;
    bool metadata_only = false;
    std::shared_ptr<SharedInformer> informer;  // null: from the manager's cache
  };

  Manager& manager_;
  std::string name_;
  ControllerOptions options_;
  std::vector<Predicate> filters_;
  std::vector<Watched> watched_;  // the first is the controller's kind
  std::vector<Source> sources_;
};

template <class T>
ControllerBuilder ControllerFor(Manager& manager) {
  return ControllerBuilder(manager, Resource::Of<T>());
}

}  // namespace cox
