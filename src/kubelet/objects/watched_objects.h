// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/mutex.h"
#include "coxswain/client.h"
#include "coxswain/object_cache.h"
#include "kubelet/objects/object_source.h"
#include "kubelet/objects/references.h"

namespace cox::kubelet {

// Watches the objects that Pods of this node reference, with one watch per object: the node
// authorizer permits no others, and listing all secrets from thousands of nodes would overload the
// API server. Pods that reference the same object share its watch; the last one closes it. Watches
// that wait for events hold no thread: a node can have hundreds of them.
//
// Guarantees: after Register, Get waits for the first list of the object and then reads from
//   memory. An object is as recent as its watch; an immutable object is not watched any more. An
//   unregistered object is read from the API server each time.
// Threads: all methods may be called concurrently. `changed` is called with the UIDs of Pods whose
//   object was added, changed or deleted; it only enqueues.
// Ownership: the client outlives it.
class WatchedObjects final : public ObjectSource {
 public:
  using Changed = std::function<void(const std::string& uid)>;
  WatchedObjects(const Context& ctx, Client& client, Changed changed);
  ~WatchedObjects() override;

  // Watches the objects that the Pod references now; releases those that it no longer references.
  void Register(const core::v1::Pod& pod);
  void Unregister(const std::string& uid);

  Result<std::shared_ptr<const core::v1::ConfigMap>> GetConfigMap(Context& ctx,
                                                                  const ObjectKey& key) override;
  Result<std::shared_ptr<const core::v1::Secret>> GetSecret(Context& ctx,
                                                            const ObjectKey& key) override;

  size_t watches() const;

 private:
  struct Watch;
  template <class T>
  Result<std::shared_ptr<const T>> Get(Context& ctx, const ObjectReference& reference);
  void Notify(const ObjectReference& reference);

  Client& client_;
  const Changed changed_;
  const std::unique_ptr<ObjectCache> cache_;
  mutable Mutex mu_;
  std::map<ObjectReference, std::shared_ptr<Watch>> watches_ COX_GUARDED_BY(mu_);
  std::map<std::string, std::set<ObjectReference>> pods_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::kubelet
