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
  Clock::Duration reconcile_timeout{};   // 0: as long as it takes
  std::unique_ptr<RateLimiter> limiter;  // null: DefaultRateLimiter
  bool needs_leader_election = true;
  // Do not reconcile for what the reconciler wrote itself, where it is certain that nothing else
  // changed with it.
  bool ignore_own_writes = false;
  // Initial lists and resyncs come behind news.
  bool priorities = true;
};

// Which keys of the controller's kind an object concerns.
using MapFunction = std::function<std::vector<ObjectKey>(const Object&)>;

// Feeds keys from elsewhere: a timer, a channel, a system that is no cluster. Runs until `ctx`
// stops.
using Source = std::function<Status(Context& ctx, WorkQueue& queue)>;
// All objects `list` names, every `period`, the first time at once.
Source Every(Clock::Duration period, std::function<std::vector<ObjectKey>()> list);

// Says what a controller watches; Complete registers it with the manager.
//
//   return ControllerFor<Website>(manager)
//       .Owns<apps::v1::Deployment>()
//       .Watches<core::v1::ConfigMap>([](const core::v1::ConfigMap& map) { ... return keys; })
//       .With({.max_concurrent_reconciles = 4})
//       .Complete(std::make_unique<WebsiteReconciler>(manager));
//
// Each kind that is named gets an informer of the manager's cache; workers start when all have
// synced (and this process leads).
class ControllerBuilder {
 public:
  ControllerBuilder(Manager& manager, Resource resource);

  ControllerBuilder& Named(std::string name);  // else the kind, in lower case
  ControllerBuilder& With(ControllerOptions options);
  // For all that is watched, besides the predicate of each kind.
  ControllerBuilder& Filter(Predicate predicate);
  // Of the controller's own kind only the metadata is watched and kept.
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
  // Objects whose controlling owner is of the controller's kind: the owner is reconciled.
  ControllerBuilder& OwnsResource(Resource resource, Predicate predicate = nullptr);
  ControllerBuilder& WatchesResource(Resource resource, MapFunction map,
                                     Predicate predicate = nullptr);
  // The same, of which only the metadata is kept; objects are PartialObjectMetadata.
  ControllerBuilder& WatchesMetadata(Resource resource, MapFunction map,
                                     Predicate predicate = nullptr);
  // Of another cache, such as another cluster's (Manager::AddCluster).
  ControllerBuilder& WatchesInformer(std::shared_ptr<SharedInformer> informer, MapFunction map,
                                     Predicate predicate = nullptr);
  ControllerBuilder& From(Source source);

  // BadRequest: a controller of that name exists, or there is nothing that reconciles.
  Status Complete(std::unique_ptr<Reconciler> reconciler);
  Status Complete(ReconcileFunction function) {
    return Complete(MakeReconciler(std::move(function)));
  }

 private:
  struct Watched {
    Resource resource;
    MapFunction map;  // null: the key itself; owners where `owned`
    Predicate predicate;
    bool owned = false;
    bool metadata_only = false;
    std::shared_ptr<SharedInformer> informer;  // null: of the manager's cache
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
