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

// The patch that leads from the status that the API has to `wanted`, as far as it is the kubelet's
// to say; empty if nothing does. Names the uid: a later Pod of the same name does not get it.
Result<Patch> StatusPatch(const core::v1::Pod& pod, const core::v1::PodStatus& wanted);

// Tells the API what became of the node's Pods, and removes those that have ended and are being
// deleted.
//
// Guarantees: only what differs from the API's state is written, of several states in a row only
//   the last one. A Pod's final state is written before it is removed. What cannot be written is
//   tried again with growing waits, for as long as the Pod is known.
// Threads: all methods may be called concurrently.
// Ownership: the client outlives it. `pod` gives the newest version that the node's cache has of a
//   Pod, null if it has none; it only looks that up: it may be called under a lock.
class StatusManager {
 public:
  using PodSource = std::function<std::shared_ptr<const core::v1::Pod>(const ObjectKey&)>;

  StatusManager(const Context& ctx, Client& client, PodSource pod);
  ~StatusManager();

  // The state of a Pod now. Returns at once.
  void Set(const core::v1::Pod& pod, core::v1::PodStatus status);
  // Everything of the Pod has ended and was cleaned up (containers, volumes, cgroup): the object
  // may go, if somebody has deleted it.
  void SetFinished(const core::v1::Pod& pod);
  // The newest that was Set; what comes before the API's own.
  std::optional<core::v1::PodStatus> Get(const std::string& uid) const;
  // The Pod is no longer here.
  void Forget(const std::string& uid);

  // How many different states were set for it: rises by one when a state differs from the last.
  uint64_t Version(const std::string& uid) const;
  // Writes what is pending for one Pod, now. For tests and for the end of a program.
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
  // The Pod's, new if need be; null if another Pod has taken its name.
  Entry* Ensure(const ObjectKey& key, const std::string& uid) COX_REQUIRES(mu_);

  Client& client_;
  const PodSource pod_;
  const std::unique_ptr<WorkQueue> queue_;
  mutable Mutex mu_;
  // One Pod of a name at a time; the newer takes the older one's place.
  std::unordered_map<ObjectKey, Entry> entries_ COX_GUARDED_BY(mu_);
  std::unordered_map<std::string, ObjectKey> keys_ COX_GUARDED_BY(mu_);  // by uid
  Scope scope_;
};

}  // namespace cox::kubelet
