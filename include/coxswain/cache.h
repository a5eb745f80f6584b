// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/v1.h"
#include "base/context.h"
#include "base/metrics.h"
#include "base/result.h"
#include "coxswain/client.h"
#include "coxswain/informer.h"
#include "coxswain/lister.h"

namespace cox {

// Selects the part of a resource that is cached, and its representation.
struct CacheScope {
  std::vector<std::string> namespaces;  // empty: all
  labels::Selector labels;
  fields::Selector fields;
  // Whether objects are stored with managedFields: often a third of an object, and unused by most
  // controllers.
  bool managed_fields = false;
  // Removes unused data before the object is stored. Must not change the object's identity. In the
  // process of the API server, a cache without a transform and managedFields shares the objects of
  // the server's cache and needs no memory for them.
  std::function<void(Object&)> transform;
  // True if the transform only saves memory: objects are shared without it if possible.
  bool transform_is_optional = false;
  // kObjects: structs shared with readers. kBytes: encoded objects, about a third of the size,
  // decoded for each read; for kinds with many large objects that are rarely read.
  enum class Keep : uint8_t { kObjects, kBytes };
  Keep keep = Keep::kObjects;
};

struct CacheOptions {
  CacheScope defaults;
  // Replaces `defaults` for one resource.
  std::vector<std::pair<Resource, CacheScope>> by_resource;
  // Resync period for handlers without their own. The default is that of controller-runtime, 10 h.
  // 0: never.
  Clock::Duration resync = std::chrono::hours(10);
  // Duration of each watch request (up to twice as long, randomized), after which the watch is
  // restarted. The client cancels a watch that the server does not end in time.
  std::chrono::seconds watch_timeout{300};
  // Backoff between failed attempts: doubles up to the maximum, with jitter.
  std::chrono::milliseconds backoff_min{800};
  std::chrono::milliseconds backoff_max{30'000};
  // Streams the initial list (sendInitialEvents); falls back to paged lists.
  bool streaming_lists = true;
  int64_t page_size = 500;
};

// Shared informers, one per resource.
//
// An informer starts when it is first requested and runs until the Cache is destroyed or Remove is
// called.
// Threads: all methods may be called concurrently.
// Ownership: the client and the metrics must outlive the Cache. Informer handles may outlive it;
//   they then return its last state.
class Cache {
 public:
  static std::unique_ptr<Cache> Create(const Context& ctx, Client& client, CacheOptions options,
                                       MetricsRegistry* metrics = nullptr);
  virtual ~Cache() = default;

  template <class T>
  Informer<T> InformerOf() {
    return Informer<T>(Get(Resource::Of<T>()));
  }
  template <class T>
  Lister<T> ListerOf() {
    return Lister<T>(Get(Resource::Of<T>()));
  }
  template <class T, class Key>
  Index<T, Key> IndexOf() {
    return Index<T, Key>(Get(Resource::Of<T>()));
  }
  // Metadata only (names, labels, annotations, owners): objects are PartialObjectMetadata.
  Informer<meta::v1::PartialObjectMetadata> MetadataInformerOf(const Resource& resource) {
    return Informer<meta::v1::PartialObjectMetadata>(GetMetadata(resource));
  }

  virtual std::shared_ptr<SharedInformer> Get(const Resource& resource) = 0;
  virtual std::shared_ptr<SharedInformer> GetMetadata(const Resource& resource) = 0;
  // The informer of the resource if it exists; does not start one.
  virtual std::shared_ptr<SharedInformer> Find(const Resource& resource) const = 0;
  // Stops the watch. Remaining handles of the informer return its last state.
  virtual void Remove(const Resource& resource) = 0;

  // Waits until all informers requested so far have synced.
  virtual Status WaitForSync(Context& ctx) = 0;

  // Changes the namespaces of running informers whose scope lists namespaces.
  virtual void AddNamespace(const std::string& ns) = 0;
  virtual void RemoveNamespace(const std::string& ns) = 0;

  // A client whose writes are visible in this cache when the call returns.
  // Lifetime: the cache must outlive the returned client.
  virtual std::unique_ptr<Client> WritingThrough(Client& client) = 0;
};

}  // namespace cox
