// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/doorbell.h"
#include "controllers/lifecycle/garbagecollector/graph.h"
#include "controllers/lifecycle/garbagecollector/kinds.h"
#include "coxswain/cache.h"
#include "coxswain/discovery.h"

namespace cox::controllers::gc {

// Keeps the graph as the cluster is: an informer of every kind that is served, as discovery says
// it. Of kinds that the manager's cache has whole (Pods, for other controllers) no second copy is
// made; of the others a cache of metadata alone, without labels and annotations.
//
// Threads: Refresh, WaitSynced and AwaitNews by one; handlers run on the informers' threads.
// Ownership: caches, graph and kinds outlive it; `tell` is callable as long as it lives.
class Monitors {
 public:
  using Tell = std::function<void(const Effects&)>;
  Monitors(Client& client, Cache& whole, Cache& metadata, Graph& graph, Kinds& kinds, Tell tell);

  // What of metadata the graph needs: the options of the `metadata` cache.
  static CacheOptions MetadataOptions();

  // Watches what is new, and no longer what is not served any more. The graph keeps what it had of
  // that: what cannot be asked for is not gone, and may be served again.
  Status Refresh(Context& ctx);
  // Until the graph has all that was there, or `ctx` stops: one kind that cannot be listed must
  // not keep the others from being collected.
  Status WaitSynced(Context& ctx) const;
  // Until kinds may have come or gone, or it is time to look.
  void AwaitNews(const Context& ctx);

 private:
  struct Monitor {
    std::shared_ptr<SharedInformer> informer;
    bool own = false;  // of the metadata cache
    InformerHandle handle;
    // Objects of this kind that the graph had when this began: another monitor's, whose last
    // events nobody may have heard.
    std::vector<std::string> inherited;
  };
  void Start(const Resource& resource);
  // Those that the informer does not have are gone.
  void SettleInheritance(Monitor& monitor);
  void OnDelta(const Resource& resource, bool announces_kinds, const Delta& delta);

  Client& client_;
  Cache& whole_;
  Cache& metadata_;
  Graph& graph_;
  Kinds& kinds_;
  const Tell tell_;
  Doorbell news_;
  std::map<GroupVersionKind, Monitor> monitors_;  // last: handlers use the rest
};

}  // namespace cox::controllers::gc
