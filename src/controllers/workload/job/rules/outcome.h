// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/batch/v1.h"
#include "controllers/workload/job/rules/tally.h"

// How a Job ends. Pure functions.
namespace cox::controllers {

struct Outcome {
  bool success = false;
  std::string reason;
  std::string message;
};

// Complete or Failed: nothing will change any more.
bool IsFinished(const batch::v1::Job& job);
// What was decided already, and is being carried out: SuccessCriteriaMet or FailureTarget.
std::optional<Outcome> DecidedOutcome(const batch::v1::Job& job);

// Whether it is time to end, and how; the first that applies:
//   FailJob of the failure policy · backoffLimit · activeDeadlineSeconds · maxFailedIndexes · all
//   indexes ended, some of them failed · success policy · completions reached.
std::optional<Outcome> JudgeJob(const batch::v1::Job& job, const std::vector<pods::PodPtr>& pods,
                                const Tally& tally, int32_t active, const Time& now);

// Until activeDeadlineSeconds are over; none if the Job has no such limit or stands still.
std::optional<Duration> DeadlineLeft(const batch::v1::Job& job, const Time& now);

}  // namespace cox::controllers
