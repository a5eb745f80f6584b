// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "api/core/v1.h"
#include "base/mutex.h"
#include "base/result.h"
#include "controllers/shared/pods/by_controller.h"
#include "controllers/shared/pods/pod_counts.h"
#include "coxswain/lister.h"

namespace cox::controllers::pods {

// Counts the Pods of owners such as ReplicaSets in step with the cache, so that a sync of an owner
// does not list its Pods: a change of a Pod updates the counts of its owner.
//
// Guarantees: the counts contain exactly the Pods that the cache contains, also the caller's own
//   writes. The Pods of an owner are listed once on first use, again if its selector or the labels
//   of its template change, and after Forget, which controllers call on a resync.
// Threads: all methods may be called concurrently.
class PodCounter {
 public:
  using PodIndex = Index<core::v1::Pod, ByController<core::v1::Pod>>;
  explicit PodCounter(PodIndex pods);

  struct Owner {
    const meta::v1::ObjectMeta& metadata;
    const meta::v1::LabelSelector* selector = nullptr;
    const Map<std::string>& labels;  // of the Pod template
    int32_t min_ready_seconds = 0;
  };
  struct Counts {
    size_t active = 0;
    size_t terminating = 0;
    size_t ready = 0;
    size_t labeled = 0;
    size_t available = 0;
    std::optional<Clock::Duration> next_available_in;
    // Pods may have to be released, or adopted: see ClaimsChecked.
    bool check_claims = false;
    uint64_t position = 0;
  };
  // Errors: BadRequest for an invalid selector.
  Result<Counts> CountsOf(const Owner& owner, const Time& now);
  // Records that the orphans of the namespace were compared with the owner's selector after these
  // counts were read. Until an orphan changes, check_claims is only set if there are Pods to
  // release.
  void ClaimsChecked(const Owner& owner, const Counts& counts);
  // Drops the counts of the owner with this name.
  void Forget(const ObjectKey& key);

  // The number of Pods that were read since the start.
  size_t visited() const;

 private:
  struct Entry {
    ObjectKey key;
    std::optional<meta::v1::LabelSelector> selector;
    Map<std::string> labels;
    PodCounts counts;
    std::optional<uint64_t> checked;  // the position of the last ClaimsChecked
  };

  void Changed(const core::v1::Pod* before, const core::v1::Pod* after);
  // Records changes of orphans that may have to be adopted.
  void NoteOrphan(const core::v1::Pod* before, const core::v1::Pod& after) COX_REQUIRES(mu_);
  // Counts the Pods in the cache.
  Result<Counts> List(const Owner& owner, const Time& now);
  void ForgetLocked(const ObjectKey& key) COX_REQUIRES(mu_);
  Counts Read(const Entry& entry, const Owner& owner, const Time& now) const COX_REQUIRES(mu_);

  const PodIndex pods_;
  mutable Mutex mu_;
  std::unordered_map<std::string, Entry> entries_ COX_GUARDED_BY(mu_);  // by the owner's uid
  std::unordered_map<ObjectKey, std::string> uids_ COX_GUARDED_BY(mu_);
  uint64_t position_ COX_GUARDED_BY(mu_) = 0;
  // The position of the last change of an orphan, by namespace.
  std::unordered_map<std::string, uint64_t> orphans_ COX_GUARDED_BY(mu_);
  uint64_t forgotten_ COX_GUARDED_BY(mu_) = 0;  // the position when orphans_ was last cleared
  size_t visited_ COX_GUARDED_BY(mu_) = 0;
  const InformerHandle observer_;  // last: it uses the other members
};

}  // namespace cox::controllers::pods
