// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/context.h"
#include "base/mutex.h"
#include "coxswain/client.h"
#include "coxswain/informer.h"
#include "coxswain/object_key.h"

// Waits for a state of the cluster with watches, without polling and sleeping.
namespace cox::testkit {

// Calls `holds` with the current object and after each change; null: the object does not exist.
// Returns the first object for which it returns true. Closed watches are restarted.
// Errors: the status of `ctx` when it stops first; the server's error for a watch.
Result<ObjectPtr> WaitForObject(Context& ctx, Client& client, const Resource& resource,
                                const ObjectKey& key,
                                const std::function<bool(const ObjectPtr&)>& holds);

//   auto pod = WaitFor<Pod>(ctx, client, {"default", "web"},
//                           [](const Pod& pod) { return pod.status.phase == "Running"; });
template <class T>
Result<T> WaitFor(Context& ctx, Client& client, const ObjectKey& key,
                  const std::function<bool(const T&)>& holds = nullptr) {
  COX_ASSIGN_OR_RETURN(const ObjectPtr found,
                       WaitForObject(ctx, client, Resource::Of<T>(), key, [&](const ObjectPtr& is) {
                         const T* object = is == nullptr ? nullptr : is->As<T>();
                         return object != nullptr && (!holds || holds(*object));
                       }));
  return T(*found->As<T>());
}

template <class T>
Status WaitForDeleted(Context& ctx, Client& client, const ObjectKey& key) {
  return WaitForObject(ctx, client, Resource::Of<T>(), key,
                       [](const ObjectPtr& is) { return is == nullptr; })
      .status();
}

// Waits until `holds` returns true; it is called now and after every change that `informer`
// receives. For conditions on a cache: an object, a version, a count. `holds` must not block.
Status WaitForCache(Context& ctx, SharedInformer& informer, const std::function<bool()>& holds);

// For conditions that other threads change: they call Changed() after each change.
//
//   Signal reconciled;
//   ... reconciler: count_++; reconciled.Changed();
//   COX_RETURN_IF_ERROR(reconciled.Await(ctx, [&] { return count_ == 3; }));
//
// Threads: all methods may be called concurrently.
class Signal {
 public:
  void Changed() {
    MutexLock lock(mu_);
    changed_.NotifyAll();
  }
  // Calls `holds` now and after each Changed(). Returns an error when `ctx` stops first.
  Status Await(const Context& ctx, const std::function<bool()>& holds) {
    MutexLock lock(mu_);
    return ctx.Await(mu_, changed_, holds);
  }

 private:
  Mutex mu_;
  CondVar changed_;
};

}  // namespace cox::testkit
