// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/batch/v1.h"
#include "base/result.h"
#include "object/validation/field_error.h"

// The rules of Jobs, and of the Job templates in CronJobs. Pure functions.
namespace cox::apiserver {

// Labels that tie pods to their Job; the ones without a prefix are for clients of old.
inline constexpr std::string_view kControllerUidLabel = "batch.kubernetes.io/controller-uid";
inline constexpr std::string_view kJobNameLabel = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kLegacyControllerUidLabel = "controller-uid";
inline constexpr std::string_view kLegacyJobNameLabel = "job-name";

// A spec as a Job and a template have it. Selectors are not looked at: they are made by the server.
// `old` is what is stored, null for a new object.
FieldErrorList ValidateJobSpecWithoutSelector(const batch::v1::JobSpec& spec,
                                              const batch::v1::JobSpec* old, const FieldPath& path);
// A whole spec of a Job.
FieldErrorList ValidateJobSpec(const batch::v1::JobSpec& spec, const batch::v1::JobSpec* old,
                               const FieldPath& path);
// A new Job, or one as it would be after an update.
FieldErrorList ValidateJob(const batch::v1::Job& job, const batch::v1::Job* old);
// What an update may change.
FieldErrorList ValidateJobUpdate(const batch::v1::Job& job, const batch::v1::Job& old);

// Rules for a change of the status (job_status_validation.cc).
FieldErrorList ValidateJobStatusUpdate(const batch::v1::Job& job, const batch::v1::Job& old);

// spec.podFailurePolicy and spec.successPolicy (job_policy_validation.cc).
// REQUIRES: the policy is there.
FieldErrorList ValidatePodFailurePolicy(const batch::v1::JobSpec& spec, const FieldPath& path);
FieldErrorList ValidateSuccessPolicy(const batch::v1::JobSpec& spec, const FieldPath& path);

// Indexes of completions as the API writes them: "1,3-5,7". The number of them. BadRequest, in the
// words clients see, for what is no such list, does not rise, or leaves [0, completions).
Result<int64_t> CountIndexes(std::string_view text, int64_t completions);

bool IsIndexed(const batch::v1::JobSpec& spec);

}  // namespace cox::apiserver
