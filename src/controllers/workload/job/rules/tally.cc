// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/rules/tally.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "controllers/workload/job/pods/job_pod.h"

namespace cox::controllers {
namespace {

using batch::v1::Job;
using core::v1::Pod;
using pods::PodPtr;
using Action = FailureResult::Action;

class Counting {
 public:
  Counting(const Job& job, const std::vector<PodPtr>& pods, bool ending)
      : job_(job), pods_(pods), ending_(ending), size_(job.spec.completions.value_or(0)) {
    out_.status = job.status;
    out_.succeeded_indexes = IndexSet::Parse(job.status.completedIndexes, size_);
    out_.failed_indexes = IndexSet::Parse(job.status.failedIndexes.value_or(""), size_);
  }

  Tally Run() {
    SettleReleased();
    FindLastFailures();
    for (const PodPtr& pod : pods_) {
      if (IsTracked(*pod)) CountOne(pod);
    }
    HoldLastFailures();
    Summarize();
    return std::move(out_);
  }

 private:
  batch::v1::UncountedTerminatedPods& list() {
    return out_.status.uncountedTerminatedPods.ensure();
  }

  // Step 3, for uids whose Pods are released or deleted.
  void SettleReleased() {
    std::unordered_set<std::string_view> tracked;
    for (const PodPtr& pod : pods_) {
      if (IsTracked(*pod)) tracked.insert(pod->metadata.uid);
    }
    const auto settle = [&](List<std::string>& uids, int32_t& counter) {
      counter += static_cast<int32_t>(
          erase_if(uids, [&](const std::string& uid) { return !tracked.contains(uid); }));
      listed_.insert(uids.begin(), uids.end());
    };
    settle(list().succeeded, out_.status.succeeded);
    settle(list().failed, out_.status.failed);
  }

  // Returns false if the list is full: the Pod is counted in a later sync.
  bool AddUncounted(const Pod& pod, List<std::string>& uids) {
    if (listed_.contains(pod.metadata.uid)) return true;
    if (listed_.size() >= kMaxUncounted) return false;
    listed_.insert(pod.metadata.uid);
    uids.push_back(pod.metadata.uid);
    return true;
  }

  void CountOne(const PodPtr& pod) {
    const bool indexed = IsIndexed(job_);
    const int32_t index = indexed ? CompletionIndexOf(*pod) : -1;
    const bool stray = indexed && (index < 0 || index >= size_);
    const bool failed = HasFailed(*pod, job_);
    if (!HasSucceeded(*pod) && !failed) {
      // The deletion of the Job must not wait for this controller.
      if (job_.metadata.deletionTimestamp.has_value()) out_.release.push_back(pod);
      return;
    }
    if (stray) {
      out_.release.push_back(pod);
    } else if (HasSucceeded(*pod)) {
      if (indexed) {
        out_.succeeded_indexes.Add(index);
        out_.release.push_back(pod);
      } else if (AddUncounted(*pod, list().succeeded)) {
        out_.release.push_back(pod);
      }
    } else {
      CountFailure(pod, index);
    }
  }

  void CountFailure(const PodPtr& pod, int32_t index) {
    const FailureResult verdict = EvaluateFailure(job_, *pod);
    if (verdict.action == Action::kFailJob && !out_.fail_job) out_.fail_job = verdict.message;
    const bool ignored = verdict.action == Action::kIgnore;
    const bool first = !listed_.contains(pod->metadata.uid);
    if (!ignored && !AddUncounted(*pod, list().failed)) return;
    if (ignored) {
      ignored_.insert(pod->metadata.uid);
    } else if (verdict.matched && first) {
      ++out_.policy_actions[verdict.action];
    }
    out_.release.push_back(pod);
    if (!HasBackoffLimitPerIndex(job_) || out_.succeeded_indexes.Has(index)) return;
    const int32_t failures = IndexFailuresOf(*pod) + (ignored ? 0 : 1);
    if (verdict.action == Action::kFailIndex ||
        (!ignored && failures > *job_.spec.backoffLimitPerIndex)) {
      out_.failed_indexes.Add(index);
    }
  }

  static int32_t Generation(const Pod& pod) {
    return IndexFailuresOf(pod) + IndexIgnoredFailuresOf(pod);
  }

  // Finds the newest Pod of each index, if it failed.
  void FindLastFailures() {
    if (!HasBackoffLimitPerIndex(job_)) return;
    std::map<int32_t, PodPtr> newest;
    for (const PodPtr& pod : pods_) {
      const int32_t index = CompletionIndexOf(*pod);
      if (index < 0 || index >= size_) continue;
      PodPtr& best = newest[index];
      if (best == nullptr || Generation(*pod) > Generation(*best)) best = pod;
    }
    for (auto& [index, pod] : newest) {
      if (!HasSucceeded(*pod) && HasFailed(*pod, job_) && IsTracked(*pod)) {
        out_.awaiting_successor.emplace(index, std::move(pod));
      }
    }
  }

  void HoldLastFailures() {
    std::erase_if(out_.awaiting_successor, [this](const auto& entry) {
      return out_.succeeded_indexes.Has(entry.first) || out_.failed_indexes.Has(entry.first);
    });
    if (ending_) out_.awaiting_successor.clear();
    std::set<std::string_view> held;
    for (const auto& [index, pod] : out_.awaiting_successor) held.insert(pod->metadata.uid);
    std::erase_if(out_.release,
                  [&held](const PodPtr& pod) { return held.contains(pod->metadata.uid); });
    const auto ignored =
        std::count_if(out_.release.begin(), out_.release.end(),
                      [this](const PodPtr& pod) { return ignored_.contains(pod->metadata.uid); });
    if (ignored > 0) out_.policy_actions[Action::kIgnore] = static_cast<int>(ignored);
  }

  void Summarize() {
    if (IsIndexed(job_)) {
      out_.status.completedIndexes = out_.succeeded_indexes.ToString();
      out_.status.succeeded = out_.succeeded_indexes.count();
    }
    if (HasBackoffLimitPerIndex(job_)) {
      out_.status.failedIndexes = out_.failed_indexes.ToString();
    }
    out_.succeeded = out_.status.succeeded + static_cast<int32_t>(list().succeeded.size());
    out_.failed = out_.status.failed + static_cast<int32_t>(list().failed.size());
  }

  const Job& job_;
  const std::vector<PodPtr>& pods_;
  const bool ending_;
  const int32_t size_;
  std::unordered_set<std::string> listed_;
  std::unordered_set<std::string_view> ignored_;  // by the failure policy
  Tally out_;
};

}  // namespace

Tally CountPods(const Job& job, const std::vector<PodPtr>& pods, bool ending) {
  return Counting(job, pods, ending).Run();
}

}  // namespace cox::controllers
