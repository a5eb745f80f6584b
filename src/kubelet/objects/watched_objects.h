// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/mutex.h"
#include "coxswain/cache.h"
#include "coxswain/client.h"
#include "kubelet/objects/object_source.h"
#include "kubelet/objects/references.h"

namespace cox::kubelet {

// Follows the objects that Pods of this node name, each by a watch of its own, and no others: a
// node may not see more, and thousands of nodes that list all secrets would be too much for the
// server. Pods that name the same object share its watch; the last one ends it.
//
// Guarantees: after Register, a Get waits for the object's first answer and then reads memory. An
//   object is as new as its watch; one that no Pod registered is asked for each time.
// Threads: all methods may be called concurrently. `changed` is called with the uids of Pods whose
//   object appeared, changed or went; it only enqueues.
// Ownership: the client outlives it.
class WatchedObjects final : public ObjectSource {
 public:
  using Changed = std::function<void(const std::string& uid)>;
  WatchedObjects(const Context& ctx, Client& client, Changed changed);
  ~WatchedObjects() override;

  // Watches what the Pod names now; what it named before and no longer does is let go.
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

  const Context ctx_;
  Client& client_;
  const Changed changed_;
  mutable Mutex mu_;
  std::map<ObjectReference, std::shared_ptr<Watch>> watches_ COX_GUARDED_BY(mu_);
  std::map<std::string, std::set<ObjectReference>> pods_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::kubelet
