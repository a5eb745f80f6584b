// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/revisions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <tuple>

#include "base/strings.h"
#include "controllers/workload/deployment/template_hash.h"

namespace cox::controllers::deployment {
namespace {

using apps::v1::Deployment;
using apps::v1::ReplicaSet;

// Maximum length of the revision-history annotation; the oldest revisions are dropped.
constexpr size_t kMaxHistory = 2000;

constexpr std::array<std::string_view, 6> kNotCopied = {
    "kubectl.kubernetes.io/last-applied-configuration",
    kRevision,
    kRevisionHistory,
    kDesiredReplicas,
    kMaxReplicas,
    "deprecated.deployment.rollback.to",
};

template <class Int>
std::optional<Int> ParseInt(const std::string* text) {
  Int number = 0;
  if (text == nullptr) return {};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return {};
  return number;
}

bool Older(const SetPtr& a, const SetPtr& b) {
  return std::tie(a->metadata.creationTimestamp, a->metadata.name) <
         std::tie(b->metadata.creationTimestamp, b->metadata.name);
}

bool SetAnnotation(meta::v1::ObjectMeta& meta, std::string_view name, const std::string& value) {
  const std::string* present = meta.annotations.Get(name);
  if (present != nullptr && *present == value) return false;
  meta.annotations[name] = value;
  return true;
}

std::string WithRevision(const std::string* history, const std::string& revision) {
  if (history == nullptr || history->empty()) return revision;
  std::string joined = *history + "," + revision;
  while (joined.size() > kMaxHistory && joined.find(',') != std::string::npos) {
    joined.erase(0, joined.find(',') + 1);
  }
  return joined;
}

}  // namespace

std::vector<SetPtr> ReplicaSets::All() const {
  std::vector<SetPtr> all = old;
  if (latest != nullptr) all.push_back(latest);
  return all;
}

std::vector<SetPtr> ReplicaSets::ActiveOld() const {
  std::vector<SetPtr> active;
  for (const SetPtr& set : old) {
    if (SizeOf(*set) > 0) active.push_back(set);
  }
  return active;
}

void ReplicaSets::Replace(const SetPtr& set) {
  const auto same = [&](const SetPtr& other) { return other->metadata.uid == set->metadata.uid; };
  if (latest != nullptr && same(latest)) latest = set;
  std::replace_if(old.begin(), old.end(), same, set);
}

ReplicaSets Sort(const Deployment& deployment, std::vector<SetPtr> sets) {
  std::sort(sets.begin(), sets.end(), Older);
  ReplicaSets sorted;
  for (SetPtr& set : sets) {
    if (sorted.latest == nullptr && SameTemplate(set->spec.template_, deployment.spec.template_)) {
      sorted.latest = std::move(set);
    } else {
      sorted.old.push_back(std::move(set));
    }
  }
  return sorted;
}

int64_t RevisionOf(const meta::v1::ObjectMeta& meta) {
  return ParseInt<int64_t>(meta.annotations.Get(kRevision)).value_or(0);
}

int64_t NextRevision(const std::vector<SetPtr>& old) {
  int64_t highest = 0;
  for (const SetPtr& set : old) highest = std::max(highest, RevisionOf(set->metadata));
  return highest + 1;
}

std::optional<int32_t> IntAnnotation(const meta::v1::ObjectMeta& meta, std::string_view name) {
  return ParseInt<int32_t>(meta.annotations.Get(name));
}

bool SetReplicasAnnotations(ReplicaSet& set, int32_t desired, int32_t max) {
  const bool changed = SetAnnotation(set.metadata, kDesiredReplicas, std::to_string(desired));
  return SetAnnotation(set.metadata, kMaxReplicas, std::to_string(max)) || changed;
}

bool SetLatestAnnotations(const Deployment& deployment, ReplicaSet& set, int64_t revision) {
  bool changed = false;
  for (const auto& [name, value] : deployment.metadata.annotations) {
    if (std::find(kNotCopied.begin(), kNotCopied.end(), name) != kNotCopied.end()) continue;
    changed = SetAnnotation(set.metadata, name, value) || changed;
  }
  const std::string* former = set.metadata.annotations.Get(kRevision);
  // A revision that is not a number was set by a user and is kept.
  if (former != nullptr && !former->empty() && !ParseInt<int64_t>(former)) return changed;
  if (RevisionOf(set.metadata) >= revision) return changed;
  if (former != nullptr && !former->empty()) {
    const std::string history =
        WithRevision(set.metadata.annotations.Get(kRevisionHistory), *former);
    set.metadata.annotations[kRevisionHistory] = history;
  }
  set.metadata.annotations[kRevision] = std::to_string(revision);
  return true;
}

std::vector<SetPtr> SetsToDelete(const Deployment& deployment, std::vector<SetPtr> old) {
  const std::optional<int32_t> limit = deployment.spec.revisionHistoryLimit;
  if (!limit || *limit == std::numeric_limits<int32_t>::max()) return {};
  std::erase_if(old, [](const SetPtr& set) { return set->metadata.deletionTimestamp.has_value(); });
  const auto room = static_cast<size_t>(std::max(0, *limit));
  if (old.size() <= room) return {};
  std::stable_sort(old.begin(), old.end(), [](const SetPtr& a, const SetPtr& b) {
    return RevisionOf(a->metadata) < RevisionOf(b->metadata);
  });
  old.resize(old.size() - room);
  std::erase_if(old, [](const SetPtr& set) {
    return SizeOf(*set) != 0 || set->status.replicas != 0 ||
           set->metadata.generation > set->status.observedGeneration;
  });
  return old;
}

}  // namespace cox::controllers::deployment
