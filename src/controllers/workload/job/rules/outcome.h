// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/batch/v1.h"
#include "controllers/workload/job/rules/tally.h"

// Decides how a Job ends. Pure functions.
namespace cox::controllers {

struct Outcome {
  bool success = false;
  std::string reason;
  std::string message;
};

// The Job has condition Complete or Failed, which are final.
bool IsFinished(const batch::v1::Job& job);
// The outcome that was decided before: SuccessCriteriaMet or FailureTarget.
std::optional<Outcome> DecidedOutcome(const batch::v1::Job& job);

// Returns whether and how the Job ends; the first of these that applies:
//   FailJob of the failure policy · backoffLimit · activeDeadlineSeconds · maxFailedIndexes · all
//   indexes ended, some of them failed · success policy · completions reached.
std::optional<Outcome> EvaluateJob(const batch::v1::Job& job, const std::vector<pods::PodPtr>& pods,
                                   const Tally& tally, int32_t active, const Time& now);

// Remaining time of activeDeadlineSeconds; nullopt without such a limit or startTime, or while
// suspended.
std::optional<Duration> DeadlineLeft(const batch::v1::Job& job, const Time& now);

}  // namespace cox::controllers
