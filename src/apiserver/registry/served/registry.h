// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/served/registered_kind.h"
#include "apiserver/registry/served/served_resource.h"
#include "apiserver/registry/served/served_set.h"
#include "apiserver/registry/store/store.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/published.h"
#include "object/type/gvk.h"
#include "storage/watchcache/watch_cache.h"

namespace cox::apiserver {

// Every kind that the server stores. Built-in kinds exist for the whole lifetime; other kinds are
// added, changed and removed at run time (Apply). The kinds that are served at one moment are an
// immutable ServedSet: a request uses the same set from start to end.
//
// Threads: all methods may be called concurrently. Readers take no lock.
class Registry {
 public:
  struct Options {
    // Returns the storage of a resource: "events", "leases.coordination.k8s.io", ... Also called
    // for kinds that are added at run time; the returned store outlives the registry.
    std::function<storage::Store&(const KindInfo&)> storage;
    std::string root = "/registry";
    MetricsRegistry* metrics = nullptr;
    bool watch_cache = true;
    std::chrono::seconds event_ttl{0};  // 0: an hour
    // Returns whether a group version or resource of the built-in kinds is served.
    std::function<bool(const KindInfo&)> serves;
  };
  Registry(const Context& ctx, Options options);
  ~Registry();

  // Returns the set that is served now.
  ServedSetPtr served() const { return served_.Load(); }
  // Null if there is no such resource, or if it is not stored.
  std::shared_ptr<const ServedResource> Find(std::string_view group, std::string_view version,
                                             std::string_view resource) const;
  // The hub of a built-in kind, which lives as long as the registry. Aborts the process if the kind
  // is not served: for kinds that the server itself needs.
  const ServedResource& Hub(const KindInfo& kind) const;

  // Changes of the kinds that are not built in.
  struct Changes {
    // Served from now on. They replace kinds with the same group and plural.
    // REQUIRES: all versions of a kind are of one group.
    std::vector<SharedStrategy> put;
    // No longer served. Unknown resources are ignored.
    std::vector<GroupResource> remove;
  };
  // Makes all changes atomically. Blocks until the caches of the new kinds are filled: when it
  // returns, they are served and watches of removed kinds are closed. If it fails, nothing has
  // changed: Conflict for the name of a built-in resource, or the error of `ctx` if that stops.
  Status Apply(Context& ctx, Changes changes);

  // OK once the caches of all built-in kinds have their first list.
  Status WaitReady(Context& ctx) const;
  bool ready() const;

 private:
  using KindPtr = std::shared_ptr<RegisteredKind>;

  KindPtr MakeKind(SharedStrategy strategy, const std::function<bool(const KindInfo&)>& serves);
  std::shared_ptr<storage::RevisionReader> RevisionsOf(storage::Store& store);
  bool IsBuiltin(const KindInfo& kind) const;
  // Publishes the set with these kinds; returns the kinds that were replaced or removed.
  std::vector<KindPtr> Publish(const std::vector<KindPtr>& put,
                               const std::vector<GroupResource>& remove);

  Context ctx_;
  const Options options_;
  const RegisteredKind::Shared shared_;
  Mutex mu_;
  std::map<storage::Store*, std::shared_ptr<storage::RevisionReader>> revisions_
      COX_GUARDED_BY(mu_);
  std::map<GroupResource, KindPtr> custom_ COX_GUARDED_BY(mu_);
  std::vector<KindPtr> builtin_;  // constant after construction
  // The hubs of the built-in kinds.
  std::map<std::pair<std::string_view, std::string_view>, const ServedResource*> hubs_;
  Published<const ServedSet> served_;
};

}  // namespace cox::apiserver
