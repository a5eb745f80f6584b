// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/notification.h"
#include "controllers/lifecycle/garbagecollector/graph.h"
#include "controllers/lifecycle/garbagecollector/kinds.h"
#include "coxswain/cache.h"
#include "coxswain/discovery.h"

namespace cox::controllers::gc {

// Keeps the graph up to date with an informer for every kind that discovery reports. Kinds that the
// manager's cache contains in full (Pods, for other controllers) share its informer; the others use
// a metadata-only cache without labels and annotations.
//
// Threads: Refresh, WaitSynced and AwaitKindChange are called by one thread; handlers run on the
//   informers' threads.
// Ownership: caches, graph and kinds outlive this object; `tell` must be callable during its
//   lifetime.
class Monitors {
 public:
  using NotifyFunc = std::function<void(const Effects&)>;
  Monitors(Client& client, Cache& whole, Cache& metadata, Graph& graph, Kinds& kinds,
           NotifyFunc notify);

  // Options of the `metadata` cache, which keeps only the metadata that the graph needs.
  static CacheOptions MetadataOptions();

  // Starts informers for new kinds and stops those of kinds that are no longer served. The graph
  // keeps the objects of the latter, because they may exist and be served again.
  Status Refresh(Context& ctx);
  // Waits until the graph contains the initial lists, or `ctx` stops, so that a kind that cannot be
  // listed does not block the collection of the others.
  Status WaitSynced(Context& ctx) const;
  // Waits until the served kinds may have changed, or until the next periodic discovery.
  void AwaitKindChange(const Context& ctx);

 private:
  struct Monitor {
    std::shared_ptr<SharedInformer> informer;
    bool own = false;  // the informer belongs to the metadata cache
    InformerHandle handle;
    // Objects of this kind that the graph contained when this monitor started. They come from an
    // earlier monitor, whose last events may have been lost.
    std::vector<std::string> inherited;
  };
  void Start(const Resource& resource);
  // Forgets the inherited objects that the informer does not have.
  void SettleInheritance(Monitor& monitor);
  void OnDelta(const Resource& resource, bool announces_kinds, const Delta& delta);

  Client& client_;
  Cache& whole_;
  Cache& metadata_;
  Graph& graph_;
  Kinds& kinds_;
  const NotifyFunc notify_;
  Notification kinds_changed_;
  std::map<GroupVersionKind, Monitor> monitors_;  // last: handlers use the other members
};

}  // namespace cox::controllers::gc
