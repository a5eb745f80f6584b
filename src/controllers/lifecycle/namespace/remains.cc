// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/namespace/remains.h"

#include <algorithm>

#include "coxswain/conditions.h"
#include "object/core/pod_state.h"

namespace cox::controllers {
namespace {

// Estimate in seconds for objects with finalizers.
constexpr int64_t kFinalizerEstimate = 15;

std::string JoinSorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

// "<name><middle><count> resource instances" for each.
std::string Counts(const std::map<std::string, int>& counts, std::string_view middle) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : counts) {
    texts.push_back(name + std::string(middle) + std::to_string(count) + " resource instances");
  }
  return JoinSorted(std::move(texts));
}

struct Outcome {
  const char* type;
  bool holds;
  const char* reason;
  std::string message;
};

std::vector<Outcome> OutcomesOf(const Remains& remains) {
  std::vector<Outcome> out = {
      {core::v1::kNamespaceDeletionDiscoveryFailure, false, "ResourcesDiscovered",
       "All resources successfully discovered"},
      // Never fails: discovery returns group versions already parsed.
      {core::v1::kNamespaceDeletionGVParsingFailure, false, "ParsedGroupVersions",
       "All legacy kube types successfully parsed"},
      {core::v1::kNamespaceDeletionContentFailure, false, "ContentDeleted",
       "All content successfully deleted, may be waiting on finalization"},
      {core::v1::kNamespaceContentRemaining, false, "ContentRemoved",
       "All content successfully removed"},
      {core::v1::kNamespaceFinalizersRemaining, false, "ContentHasNoFinalizers",
       "All content-preserving finalizers finished"},
  };
  const auto fails = [&](size_t which, const char* reason, std::string message) {
    out[which] = {out[which].type, true, reason, std::move(message)};
  };
  if (!remains.discovery_errors.empty()) {
    fails(0, "DiscoveryFailed",
          "Discovery failed for some groups, " + std::to_string(remains.discovery_errors.size()) +
              " failing: " + JoinSorted(remains.discovery_errors));
  }
  if (!remains.deletion_errors.empty()) {
    fails(2, "ContentDeletionFailed",
          "Failed to delete all resource types, " + std::to_string(remains.deletion_errors.size()) +
              " remaining: " + JoinSorted(remains.deletion_errors));
  }
  if (!remains.by_resource.empty()) {
    fails(3, "SomeResourcesRemain",
          "Some resources are remaining: " + Counts(remains.by_resource, " has "));
  }
  if (!remains.by_finalizer.empty()) {
    fails(4, "SomeFinalizersRemain",
          "Some content in the namespace has finalizers remaining: " +
              Counts(remains.by_finalizer, " in "));
  }
  return out;
}

}  // namespace

Status Remains::status() const {
  std::vector<std::string> all = discovery_errors;
  all.insert(all.end(), deletion_errors.begin(), deletion_errors.end());
  return all.empty() ? Status() : Status::Internal(JoinSorted(std::move(all)));
}

Clock::Duration Remains::RequeueAfter() const { return std::chrono::seconds(estimate / 2 + 1); }

int64_t GraceOf(const core::v1::Pod& pod) {
  if (core_rules::IsTerminal(pod)) return 0;
  // The grace period of the deletion overrides that of the spec.
  return pod.metadata.deletionGracePeriodSeconds.value_or(
      pod.spec.terminationGracePeriodSeconds.value_or(0));
}

void CountIn(const GroupVersionResource& resource, const std::string& ns,
             const LeftOfResource& left, Remains& remains) {
  if (left.items == 0) return;
  remains.by_resource[resource.resource + "." + resource.group] += left.items;
  for (const auto& [finalizer, count] : left.by_finalizer) {
    remains.by_finalizer[finalizer] += count;
  }
  int64_t estimate = left.longest_grace;
  if (estimate == 0 && !left.by_finalizer.empty()) estimate = kFinalizerEstimate;
  if (estimate == 0) {
    remains.deletion_errors.push_back("unexpected items still remain in namespace: " + ns +
                                      " for gvr: " + resource.ToString());
  }
  remains.estimate = std::max(remains.estimate, estimate);
}

bool SetDeletionConditions(const Remains& remains, const Time& now,
                           core::v1::NamespaceStatus& status) {
  bool changed = false;
  for (Outcome& outcome : OutcomesOf(remains)) {
    const bool set = SetCondition(status.conditions,
                                  core::v1::NamespaceCondition{
                                      .type = outcome.type,
                                      .status = outcome.holds ? "True" : "False",
                                      .lastTransitionTime = {},
                                      .reason = outcome.reason,
                                      .message = std::move(outcome.message),
                                  },
                                  now);
    changed = changed || set;
  }
  return changed;
}

}  // namespace cox::controllers
