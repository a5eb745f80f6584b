// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/batch/v1.h"
#include "base/result.h"
#include "object/validation/field_error.h"

// Validation of Jobs, and of Job templates in CronJobs. Pure functions.
namespace cox::apiserver {

// Labels by which pods belong to their Job; the ones without a prefix are for old clients.
inline constexpr std::string_view kControllerUidLabel = "batch.kubernetes.io/controller-uid";
inline constexpr std::string_view kJobNameLabel = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kLegacyControllerUidLabel = "controller-uid";
inline constexpr std::string_view kLegacyJobNameLabel = "job-name";

// Validates the spec of a Job or a Job template, except for the selector, which the server
// generates. `old` is the stored spec, null for a new object.
FieldErrorList ValidateJobSpecWithoutSelector(const batch::v1::JobSpec& spec,
                                              const batch::v1::JobSpec* old, const FieldPath& path);
// Validates the complete spec of a Job.
FieldErrorList ValidateJobSpec(const batch::v1::JobSpec& spec, const batch::v1::JobSpec* old,
                               const FieldPath& path);
// Validates a new Job, or the result of an update.
FieldErrorList ValidateJob(const batch::v1::Job& job, const batch::v1::Job* old);
// Rejects changes of immutable fields.
FieldErrorList ValidateJobUpdate(const batch::v1::Job& job, const batch::v1::Job& old);

// Validates an update of the status (job_status_validation.cc).
FieldErrorList ValidateJobStatusUpdate(const batch::v1::Job& job, const batch::v1::Job& old);

// Validates spec.podFailurePolicy and spec.successPolicy (job_policy_validation.cc).
// REQUIRES: the policy is set.
FieldErrorList ValidatePodFailurePolicy(const batch::v1::JobSpec& spec, const FieldPath& path);
FieldErrorList ValidateSuccessPolicy(const batch::v1::JobSpec& spec, const FieldPath& path);

// Returns the number of completion indexes in a text such as "1,3-5,7". BadRequest, with upstream's
// texts, if the list is malformed, not increasing, or has indexes outside of [0, completions).
Result<int64_t> CountIndexes(std::string_view text, int64_t completions);

bool IsIndexed(const batch::v1::JobSpec& spec);

}  // namespace cox::apiserver
