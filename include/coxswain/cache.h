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

// What of a resource is kept, and how.
struct CacheScope {
  std::vector<std::string> namespaces;  // empty: all
  labels::Selector labels;
  fields::Selector fields;
  // Drops what nobody reads before it is kept. Must not touch what identifies the object. None:
  // all is kept, but of metadata alone, where they would be most of it, managedFields are not.
  std::function<void(Object&)> transform;
  // kObjects: structs, shared with readers. kBytes: the encoded object, about a third of that,
  // decoded for each reader: for kinds with many large objects that are read seldom.
  enum class Keep : uint8_t { kObjects, kBytes };
  Keep keep = Keep::kObjects;
};

// Forgets who set which field: often a third of an object, and of no use to controllers. A
// CacheScope::transform.
void StripManagedFields(Object& object);

struct CacheOptions {
  CacheScope defaults;
  // Instead of `defaults`, for one resource.
  std::vector<std::pair<Resource, CacheScope>> by_resource;
  // For handlers that ask for none of their own. Client-go's habit of 10 h: a safety net, not a
  // mechanism. 0: never.
  Clock::Duration resync = std::chrono::hours(10);
  // A watch on which nothing came, not even a bookmark, for this long (up to twice, drawn at
  // random) is ended and begun again.
  std::chrono::seconds watch_timeout{300};
  // Between attempts that fail: doubled up to the maximum, with jitter.
  std::chrono::milliseconds backoff_min{800};
  std::chrono::milliseconds backoff_max{30'000};
  // Streams the first list (sendInitialEvents); servers that cannot are asked for pages.
  bool streaming_lists = true;
  int64_t page_size = 500;
};

// Informers, one for each resource that somebody wants, shared by all who do.
//
// An informer is started when it is first asked for and runs until the Cache ends or Remove is
// called.
// Threads: all methods may be called concurrently.
// Ownership: the client and the metrics outlive the Cache. Handles of informers may outlive it:
//   they show its last state.
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
  // Only names, labels, annotations, owners: objects are PartialObjectMetadata.
  Informer<meta::v1::PartialObjectMetadata> MetadataInformerOf(const Resource& resource) {
    return Informer<meta::v1::PartialObjectMetadata>(GetMetadata(resource));
  }

  virtual std::shared_ptr<SharedInformer> Get(const Resource& resource) = 0;
  virtual std::shared_ptr<SharedInformer> GetMetadata(const Resource& resource) = 0;
  // The informer of that resource if there is one, without starting it.
  virtual std::shared_ptr<SharedInformer> Find(const Resource& resource) const = 0;
  // Ends the watch. Who still holds the informer sees what it had.
  virtual void Remove(const Resource& resource) = 0;

  // Until all informers that were asked for so far have synced.
  virtual Status WaitForSync(Context& ctx) = 0;

  // While running: namespaces of the resources whose scope names some.
  virtual void AddNamespace(const std::string& ns) = 0;
  virtual void RemoveNamespace(const std::string& ns) = 0;

  // A client whose writes are in this cache when they return. The cache outlives it.
  virtual std::unique_ptr<Client> WritingThrough(Client& client) = 0;
};

}  // namespace cox
