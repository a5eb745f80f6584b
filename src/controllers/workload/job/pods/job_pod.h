// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "api/batch/v1.h"
#include "api/core/v1.h"

// State of a Job's Pods, and their creation. Pure functions.
namespace cox::controllers {

inline constexpr std::string_view kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view kJobNameLabel = "batch.kubernetes.io/job-name";
// Annotation and label of the Pods of Indexed Jobs.
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";
// Annotations for Jobs with backoffLimitPerIndex: failures of the index before this Pod.
inline constexpr std::string_view kIndexFailures = "batch.kubernetes.io/job-index-failure-count";
inline constexpr std::string_view kIndexIgnoredFailures =
    "batch.kubernetes.io/job-index-ignored-failure-count";

bool IsIndexed(const batch::v1::Job& job);
bool IsSuspended(const batch::v1::Job& job);
bool HasBackoffLimitPerIndex(const batch::v1::Job& job);
// Returns whether a terminating Pod counts, and is replaced, only after it has terminated.
bool ReplacesOnlyFailed(const batch::v1::Job& job);

bool IsTracked(const core::v1::Pod& pod);  // has the tracking finalizer
bool HasSucceeded(const core::v1::Pod& pod);
bool HasFailed(const core::v1::Pod& pod, const batch::v1::Job& job);

// -1 if there is none.
int32_t CompletionIndexOf(const core::v1::Pod& pod);
int32_t IndexFailuresOf(const core::v1::Pod& pod);
int32_t IndexIgnoredFailuresOf(const core::v1::Pod& pod);

// The time when its last container terminated; if unknown, the time of its deletion or last change.
Time FinishTime(const core::v1::Pod& pod);

struct NewPod {
  int32_t index = -1;  // Indexed Jobs only
  int32_t failures = 0;
  int32_t ignored_failures = 0;
};
core::v1::Pod MakeJobPod(const batch::v1::Job& job, const NewPod& wanted);

}  // namespace cox::controllers
