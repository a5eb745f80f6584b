// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/core/v1.h"
#include "base/mutex.h"
#include "coxswain/object_key.h"
#include "kubelet/admission/admission.h"
#include "kubelet/podworkers/pod_worker.h"
#include "runtime/pod_state.h"

namespace cox::kubelet {

// The Pods of this node by UID: those in the API, those deleted from it that are still ending, and
// those that only the runtime or the disk still has.
//
// Threads: all methods may be called concurrently. No callbacks run under its lock.
class PodTable {
 public:
  explicit PodTable(const Options& options) : options_(options) {}

  // Returns the UIDs to sync: the Pod's own, and that of an older Pod with the same name.
  std::vector<std::string> Put(std::shared_ptr<const core::v1::Pod> pod);
  void SetDeleted(const core::v1::Pod& pod);
  void SetSynced();
  bool synced() const;
  // Adds Pods that are not in the API, marked as gone; returns none before SetSynced.
  std::vector<std::string> AddOrphans(const std::vector<runtime::PodState>& pods);
  std::vector<std::string> AddOrphans(const std::vector<std::string>& uids);
  // False if there is no such Pod.
  bool SetEnd(const std::string& uid, PodEnd end);
  void ObjectsChanged(const std::string& uid);
  void Erase(const std::string& uid);

  struct Work {
    PodUpdate order;
    std::shared_ptr<PodWorkerState> memory;
    bool rejected_now = false;  // set on the first Take that rejects the Pod
  };
  // The desired state of the Pod; none if it is unknown. The first call decides admission; `node`
  // may be null.
  std::optional<Work> Take(const std::string& uid, const core::v1::Node* node, Clock::WallTime now);
  // Whether Take would reject the Pod.
  bool Rejects(const std::string& uid, const core::v1::Node* node) const;

  std::vector<std::shared_ptr<const core::v1::Pod>> Pods() const;
  // Excludes Pods that are gone from the API. `uid` may be empty.
  std::shared_ptr<const core::v1::Pod> Find(const ObjectKey& key, const std::string& uid) const;
  std::shared_ptr<const core::v1::Pod> FindByUid(const std::string& uid) const;
  std::vector<std::string> Uids() const;

 private:
  struct Entry {
    PodUpdate order;
    std::shared_ptr<PodWorkerState> memory;
    enum class Admission : uint8_t { kUnknown, kIn, kRejected } admission = Admission::kUnknown;
  };
  static bool HasBegun(const core::v1::Pod& pod);
  std::optional<Rejection> Check(const Entry& entry, const core::v1::Node* node) const
      COX_REQUIRES(mu_);
  bool DecideAdmission(Entry& entry, const core::v1::Node* node, Clock::WallTime now)
      COX_REQUIRES(mu_);
  bool AddOrphan(const std::string& uid, const std::string& ns, const std::string& name)
      COX_REQUIRES(mu_);

  const Options& options_;
  mutable Mutex mu_;
  std::unordered_map<std::string, Entry> pods_ COX_GUARDED_BY(mu_);
  std::unordered_map<ObjectKey, std::string> uids_ COX_GUARDED_BY(mu_);  // of Pods in the API
  bool synced_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::kubelet
