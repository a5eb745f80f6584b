// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "coxswain/manager.h"
#include "sdk/controller/controller.h"

namespace cox {

ControllerBuilder::ControllerBuilder(Manager& manager, Resource resource) : manager_(manager) {
  for (const char c : resource.gvk.kind) name_ += c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
  watched_.push_back({.resource = std::move(resource), .map = nullptr, .predicate = nullptr});
}

ControllerBuilder& ControllerBuilder::Named(std::string name) {
  name_ = std::move(name);
  return *this;
}

ControllerBuilder& ControllerBuilder::With(ControllerOptions options) {
  options_ = std::move(options);
  return *this;
}

ControllerBuilder& ControllerBuilder::Filter(Predicate predicate) {
  filters_.push_back(std::move(predicate));
  return *this;
}

ControllerBuilder& ControllerBuilder::OnlyMetadata() {
  watched_.front().metadata_only = true;
  return *this;
}

ControllerBuilder& ControllerBuilder::OwnsResource(Resource resource, Predicate predicate) {
  watched_.push_back({.resource = std::move(resource),
                      .map = nullptr,
                      .predicate = std::move(predicate),
                      .owned = true});
  return *this;
}

ControllerBuilder& ControllerBuilder::WatchesResource(Resource resource, MapFunction map,
                                                      Predicate predicate) {
  watched_.push_back(
      {.resource = std::move(resource), .map = std::move(map), .predicate = std::move(predicate)});
  return *this;
}

ControllerBuilder& ControllerBuilder::WatchesMetadata(Resource resource, MapFunction map,
                                                      Predicate predicate) {
  WatchesResource(std::move(resource), std::move(map), std::move(predicate));
  watched_.back().metadata_only = true;
  return *this;
}

ControllerBuilder& ControllerBuilder::WatchesInformer(std::shared_ptr<SharedInformer> informer,
                                                      MapFunction map, Predicate predicate) {
  WatchesResource(informer->resource(), std::move(map), std::move(predicate));
  watched_.back().informer = std::move(informer);
  return *this;
}

ControllerBuilder& ControllerBuilder::From(Source source) {
  sources_.push_back(std::move(source));
  return *this;
}

Status ControllerBuilder::Complete(std::unique_ptr<Reconciler> reconciler) {
  if (reconciler == nullptr) return Status::BadRequest("controller " + name_ + ": no reconciler");
  if (options_.max_concurrent_reconciles < 1) {
    return Status::BadRequest("controller " + name_ + ": max_concurrent_reconciles is below 1");
  }
  sdk::ControllerSpec spec{.name = name_,
                           .options = std::move(options_),
                           .watches = {},
                           .sources = std::move(sources_),
                           .reconciler = std::move(reconciler)};
  for (Watched& watched : watched_) {
    sdk::WatchSpec watch;
    // Started now, so that the cache is synced before this process leads.
    watch.informer = watched.informer        ? watched.informer
                     : watched.metadata_only ? manager_.cache().GetMetadata(watched.resource)
                                             : manager_.cache().Get(watched.resource);
    watch.predicates = filters_;
    if (watched.predicate != nullptr) watch.predicates.push_back(std::move(watched.predicate));
    if (watched.owned) {
      watch.keys = sdk::OwnerKey(watched_.front().resource);
    } else if (watched.map != nullptr) {
      watch.keys = sdk::MappedKeys(std::move(watched.map));
    } else {
      watch.keys = sdk::OwnKey();
    }
    spec.watches.push_back(std::move(watch));
  }
  const bool needs_leader_election = spec.options.needs_leader_election;
  auto controller = std::make_shared<sdk::Controller>(manager_.context().clock(),
                                                      manager_.metrics(), std::move(spec));
  return manager_.Add(
      name_, [controller = std::move(controller)](Context& ctx) { return controller->Run(ctx); },
      needs_leader_election);
}

}  // namespace cox
