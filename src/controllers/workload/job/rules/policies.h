// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/batch/v1.h"
#include "api/core/v1.h"
#include "controllers/workload/job/pods/index_set.h"

// Evaluates a Job's Pod failure policy and success policy. Pure functions.
namespace cox::controllers {

struct FailureResult {
  enum class Action : uint8_t { kCount, kIgnore, kFailIndex, kFailJob };
  Action action = Action::kCount;
  std::string message;   // for kFailJob
  bool matched = false;  // false: no rule matches
};
// Returns the action of the first rule that matches the failed Pod; kCount if none matches.
FailureResult EvaluateFailure(const batch::v1::Job& job, const core::v1::Pod& pod);

// Returns the condition message for the first rule of the success policy that the succeeded indexes
// satisfy; nullopt if none does.
std::optional<std::string> MatchSuccessPolicy(const batch::v1::Job& job, const IndexSet& succeeded);

}  // namespace cox::controllers
