// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/context.h"
#include "coxswain/cache.h"
#include "coxswain/client.h"
#include "coxswain/informer.h"
#include "coxswain/object_key.h"
#include "coxswain/resource.h"

namespace cox {

// A cached object of an ObjectCache. Destroying it ends its watch, and waits until the handler has
// returned: do not destroy it inside its own handler.
class CachedObject {
 public:
  virtual ~CachedObject() = default;
  // Contains at most this object. May outlive the CachedObject; it then returns the last state, and
  // WaitSynced fails.
  virtual const std::shared_ptr<SharedInformer>& informer() const = 0;
};

struct ObjectCacheOptions {
  // `defaults.namespaces` and `defaults.fields` are replaced for each object.
  CacheOptions cache;
  // An object for which this is true no longer changes, and its watch ends. Null: watch all.
  std::function<bool(const Object&)> is_final;
  // Threads that lists and new watches of all objects share. They end when they are idle.
  size_t max_threads = 4;
};

// Caches single objects, with one watch for each, for a client that may not list the others.
//
// A watch that waits for events holds no thread, so the number of threads does not depend on the
// number of objects. The guarantees for readers and handlers are those of SharedInformer.
// Threads: all methods may be called concurrently.
// Ownership: the client outlives the cache, which outlives its objects.
class ObjectCache {
 public:
  static std::unique_ptr<ObjectCache> Create(const Context& ctx, Client& client,
                                             ObjectCacheOptions options);
  virtual ~ObjectCache() = default;

  // `handler` is called with the changes of the object. It must only enqueue.
  virtual std::unique_ptr<CachedObject> Watch(const Resource& resource, const ObjectKey& key,
                                              DeltaHandler handler) = 0;
};

}  // namespace cox
