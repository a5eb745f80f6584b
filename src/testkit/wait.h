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

// Waiting until the cluster is as a test wants it, by watching: nothing is asked over and over, and
// nobody sleeps.
namespace cox::testkit {

// `holds` is asked about the object as it is, and whenever it changes; null: it does not exist.
// Returns the object for which it held first. Watches that end are begun again.
// Not OK: the reason of `ctx` when that stops first; what the server says to a watch.
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
Status WaitForGone(Context& ctx, Client& client, const ObjectKey& key) {
  return WaitForObject(ctx, client, Resource::Of<T>(), key,
                       [](const ObjectPtr& is) { return is == nullptr; })
      .status();
}

// Until `holds`, which is asked now and after every change that `informer` sees. For conditions
// about a cache: that it has this object, that version, so many of them. `holds` must not block.
Status WaitForCache(Context& ctx, SharedInformer& informer, const std::function<bool()>& holds);

// For conditions that change elsewhere: whoever changes one calls Changed().
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
  // `holds` is asked now and after each Changed(). Not OK when `ctx` stops first.
  Status Await(const Context& ctx, const std::function<bool()>& holds) {
    MutexLock lock(mu_);
    return ctx.Await(mu_, changed_, holds);
  }

 private:
  Mutex mu_;
  CondVar changed_;
};

}  // namespace cox::testkit
