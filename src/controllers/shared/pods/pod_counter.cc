// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/pod_counter.h"

#include <utility>

#include "controllers/shared/pods/pod_state.h"
#include "object/type/equal.h"

namespace cox::controllers::pods {
namespace {

using core::v1::Pod;

// Namespaces whose last change of an orphan is stored. Namespaces come and go, and are not removed
// one by one.
constexpr size_t kMostNamespaces = 10'000;

// Returns the uid of the Pod's controller; null: it is an orphan.
const std::string* ControllerOf(const Pod& pod) {
  const meta::v1::OwnerReference* controller = GetControllerOf(pod.metadata);
  return controller == nullptr ? nullptr : &controller->uid;
}

using StoredSelector = std::optional<meta::v1::LabelSelector>;

bool SameSelector(const StoredSelector& stored, const meta::v1::LabelSelector* selector) {
  if (!stored || selector == nullptr) return !stored && selector == nullptr;
  return DeepEqual(*stored, *selector);
}

}  // namespace

PodCounter::PodCounter(PodIndex pods)
    : pods_(std::move(pods)),
      observer_(pods_.shared().AddObserver([this](const Object* before, const Object* after) {
        Changed(before == nullptr ? nullptr : before->As<Pod>(),
                after == nullptr ? nullptr : after->As<Pod>());
      })) {}

Result<PodCounter::Counts> PodCounter::CountsOf(const Owner& owner, const Time& now) {
  {
    MutexLock lock(mu_);
    const auto found = entries_.find(owner.metadata.uid);
    if (found != entries_.end() && found->second.labels == owner.labels &&
        SameSelector(found->second.selector, owner.selector)) {
      return Read(found->second, owner, now);
    }
  }
  return List(owner, now);
}

PodCounter::Counts PodCounter::Read(const Entry& entry, const Owner& owner, const Time& now) const {
  const auto orphans = orphans_.find(owner.metadata.namespace_);
  const bool changed =
      !entry.checked ||
      (orphans == orphans_.end() ? *entry.checked < forgotten_ : *entry.checked < orphans->second);
  return {.active = entry.counts.active(),
          .terminating = entry.counts.terminating(),
          .ready = entry.counts.ready(),
          .labeled = entry.counts.labeled(),
          .available = entry.counts.Available(owner.min_ready_seconds, now),
          .next_available_in = entry.counts.NextAvailableIn(owner.min_ready_seconds, now),
          .check_claims = changed || !entry.counts.unselected().empty(),
          .position = position_};
}

Result<PodCounter::Counts> PodCounter::List(const Owner& owner, const Time& now) {
  COX_ASSIGN_OR_RETURN(auto selector, labels::Selector::FromLabelSelector(owner.selector));
  Entry entry{.key = {owner.metadata.namespace_, owner.metadata.name},
              .selector = owner.selector == nullptr ? StoredSelector() : *owner.selector,
              .labels = owner.labels,
              .counts = PodCounts(std::move(selector), owner.labels),
              .checked = std::nullopt};
  Counts counts;
  pods_.shared().BetweenChanges([&] {
    size_t visited = 0;
    pods_.Visit(ControlledBy(owner.metadata), [&](const Pod& pod) {
      entry.counts.Add(pod);
      ++visited;
      return true;
    });
    MutexLock lock(mu_);
    visited_ += visited;
    ForgetLocked(entry.key);
    uids_[entry.key] = owner.metadata.uid;
    entries_.erase(owner.metadata.uid);
    counts = Read(entries_.emplace(owner.metadata.uid, std::move(entry)).first->second, owner, now);
  });
  return counts;
}

void PodCounter::ClaimsChecked(const Owner& owner, const Counts& counts) {
  MutexLock lock(mu_);
  const auto found = entries_.find(owner.metadata.uid);
  if (found != entries_.end()) found->second.checked = counts.position;
}

void PodCounter::Forget(const ObjectKey& key) {
  MutexLock lock(mu_);
  ForgetLocked(key);
}

void PodCounter::ForgetLocked(const ObjectKey& key) {
  const auto found = uids_.find(key);
  if (found == uids_.end()) return;
  entries_.erase(found->second);
  uids_.erase(found);
}

size_t PodCounter::visited() const {
  MutexLock lock(mu_);
  return visited_;
}

void PodCounter::Changed(const Pod* before, const Pod* after) {
  MutexLock lock(mu_);
  const auto entry_of = [this](const Pod* pod) COX_REQUIRES(mu_) -> Entry* {
    const std::string* uid = pod == nullptr ? nullptr : ControllerOf(*pod);
    const auto found = uid == nullptr ? entries_.end() : entries_.find(*uid);
    if (found == entries_.end() || found->second.key.ns != pod->metadata.namespace_) return nullptr;
    ++visited_;
    return &found->second;
  };
  if (Entry* entry = entry_of(before)) entry->counts.Remove(*before);
  if (Entry* entry = entry_of(after)) entry->counts.Add(*after);
  if (after != nullptr && ControllerOf(*after) == nullptr) NoteOrphan(before, *after);
}

void PodCounter::NoteOrphan(const Pod* before, const Pod& after) {
  if (!IsActive(after)) return;
  if (before != nullptr && before->metadata.uid == after.metadata.uid && IsActive(*before) &&
      ControllerOf(*before) == nullptr && before->metadata.labels == after.metadata.labels) {
    return;
  }
  ++position_;
  if (orphans_.size() >= kMostNamespaces) {
    orphans_.clear();
    forgotten_ = position_;  // every namespace may have changed
  }
  orphans_[after.metadata.namespace_] = position_;
}

}  // namespace cox::controllers::pods
