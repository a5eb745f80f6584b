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

// The Pods that this node knows of, by uid: those of the API, those that have gone from it and are
// being ended, and those that only the runtime or the disk still has.
//
// Threads: all methods may be called concurrently. Nothing is called under its lock.
class PodTable {
 public:
  explicit PodTable(const Options& options) : options_(options) {}

  // The uids to look at: its own, and that of a Pod whose name it has taken.
  std::vector<std::string> Put(std::shared_ptr<const core::v1::Pod> pod);
  void SetGone(const core::v1::Pod& pod);
  void SetSynced();
  bool synced() const;
  // Those that nobody wants, known from now on as gone; none before SetSynced.
  std::vector<std::string> AddOrphans(const std::vector<runtime::PodState>& pods);
  std::vector<std::string> AddOrphans(const std::vector<std::string>& uids);
  // False if there is no such Pod.
  bool SetEnd(const std::string& uid, PodEnd end);
  void ObjectsChanged(const std::string& uid);
  void Erase(const std::string& uid);

  struct Work {
    PodOrder order;
    std::shared_ptr<PodMemory> memory;
    bool rejected_now = false;  // this is the first time
  };
  // What is wanted of the Pod; none if it is not known. The first time, whether it can run here is
  // decided: `node` may be null.
  std::optional<Work> Take(const std::string& uid, const core::v1::Node* node, Clock::WallTime now);
  // Whether Take would turn it away.
  bool Rejects(const std::string& uid, const core::v1::Node* node) const;

  std::vector<std::shared_ptr<const core::v1::Pod>> Pods() const;
  // Not those that are gone. `uid` may be empty.
  std::shared_ptr<const core::v1::Pod> Find(const ObjectKey& key, const std::string& uid) const;
  std::shared_ptr<const core::v1::Pod> FindByUid(const std::string& uid) const;
  std::vector<std::string> Uids() const;

 private:
  struct Entry {
    PodOrder order;
    std::shared_ptr<PodMemory> memory;
    enum class Admission : uint8_t { kUnknown, kIn, kRejected } admission = Admission::kUnknown;
  };
  static bool HasBegun(const core::v1::Pod& pod);
  std::optional<Rejection> Check(const Entry& entry, const core::v1::Node* node) const
      COX_REQUIRES(mu_);
  bool Judge(Entry& entry, const core::v1::Node* node, Clock::WallTime now) COX_REQUIRES(mu_);
  bool AddOrphan(const std::string& uid, const std::string& ns, const std::string& name)
      COX_REQUIRES(mu_);

  const Options& options_;
  mutable Mutex mu_;
  std::unordered_map<std::string, Entry> pods_ COX_GUARDED_BY(mu_);
  std::unordered_map<ObjectKey, std::string> uids_ COX_GUARDED_BY(mu_);  // of those in the API
  bool synced_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::kubelet
