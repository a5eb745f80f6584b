// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "api/batch/v1.h"
#include "api/core/v1.h"

// What a Pod is to its Job, and how one is made. Pure functions.
namespace cox::controllers {

inline constexpr std::string_view kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view kJobNameLabel = "batch.kubernetes.io/job-name";
// Annotation and label of the Pods of Indexed Jobs.
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";
// Annotations of Jobs with backoffLimitPerIndex: how often the index has failed before this Pod.
inline constexpr std::string_view kIndexFailures = "batch.kubernetes.io/job-index-failure-count";
inline constexpr std::string_view kIndexIgnoredFailures =
    "batch.kubernetes.io/job-index-ignored-failure-count";

bool IsIndexed(const batch::v1::Job& job);
bool IsSuspended(const batch::v1::Job& job);
bool HasBackoffLimitPerIndex(const batch::v1::Job& job);
// Whether a Pod that is being deleted counts only when it has ended: then it is replaced no sooner.
bool ReplacesOnlyFailed(const batch::v1::Job& job);

bool IsTracked(const core::v1::Pod& pod);  // still has our finalizer
bool HasSucceeded(const core::v1::Pod& pod);
bool HasFailed(const core::v1::Pod& pod, const batch::v1::Job& job);

// -1 if it has none.
int32_t CompletionIndexOf(const core::v1::Pod& pod);
int32_t IndexFailuresOf(const core::v1::Pod& pod);
int32_t IndexIgnoredFailuresOf(const core::v1::Pod& pod);

// When its last container ended; if that is not known, when it was deleted or last changed.
Time FinishTime(const core::v1::Pod& pod);

struct NewPod {
  int32_t index = -1;  // of Indexed Jobs
  int32_t failures = 0;
  int32_t ignored_failures = 0;
};
core::v1::Pod MakeJobPod(const batch::v1::Job& job, const NewPod& wanted);

}  // namespace cox::controllers
