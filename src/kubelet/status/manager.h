// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/scope.h"
#include "coxswain/client.h"
#include "coxswain/work_queue.h"

namespace cox::kubelet {

// The patch from the API's status to `wanted`, restricted to the kubelet's fields; empty if they
// are equal. Contains the UID as a precondition, so that it does not apply to a later Pod of the
// same name.
Result<Patch> StatusPatch(const core::v1::Pod& pod, const core::v1::PodStatus& wanted);

// Writes the statuses of the node's Pods to the API server, and deletes Pods that have ended and
// have a deletion timestamp.
//
// Guarantees: only differences to the API's state are written, and of several consecutive states
//   only the last. A Pod's final state is written before it is deleted. Failed writes are retried
//   with backoff while the Pod is known.
// Threads: all methods may be called concurrently.
// Ownership: the client outlives it. `pod` returns the newest version of a Pod in the node's cache,
//   null if there is none; it may be called under a lock, so it must only do a lookup.
class StatusManager {
 public:
  using PodSource = std::function<std::shared_ptr<const core::v1::Pod>(const ObjectKey&)>;

  StatusManager(const Context& ctx, Client& client, PodSource pod);
  ~StatusManager();

  // Sets the current status of a Pod. Does not block.
  void Set(const core::v1::Pod& pod, core::v1::PodStatus status);
  // The Pod has ended and is cleaned up (containers, volumes, cgroup): its object is deleted if it
  // has a deletion timestamp.
  void SetFinished(const core::v1::Pod& pod);
  // The last status that was Set; newer than the API's.
  std::optional<core::v1::PodStatus> Get(const std::string& uid) const;
  // Called when the Pod is no longer on this node.
  void Forget(const std::string& uid);

  // The number of different statuses that were set; increases by one when a status differs from the
  // last.
  uint64_t Version(const std::string& uid) const;
  // Writes the pending status of one Pod now. For tests and for shutdown.
  Status Sync(Context& ctx, const ObjectKey& key);

 private:
  struct Entry {
    std::string uid;
    core::v1::PodStatus status;
    bool has_status = false;
    uint64_t version = 0;
    uint64_t written = 0;  // the version that the API has
    bool finished = false;
  };
  void Run(Context& ctx);
  Entry* Find(const std::string& uid) COX_REQUIRES(mu_);
  // The Pod's entry, created if needed; null if another Pod has the name.
  Entry* Ensure(const ObjectKey& key, const std::string& uid) COX_REQUIRES(mu_);

  Client& client_;
  const PodSource pod_;
  const std::unique_ptr<WorkQueue> queue_;
  mutable Mutex mu_;
  // One Pod per name; a newer Pod replaces the older one.
  std::unordered_map<ObjectKey, Entry> entries_ COX_GUARDED_BY(mu_);
  std::unordered_map<std::string, ObjectKey> keys_ COX_GUARDED_BY(mu_);  // by uid
  Scope scope_;
};

}  // namespace cox::kubelet
