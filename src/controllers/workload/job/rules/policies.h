// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/batch/v1.h"
#include "api/core/v1.h"
#include "controllers/workload/job/pods/index_set.h"

// What a Job's policies say. Pure functions.
namespace cox::controllers {

struct FailureVerdict {
  enum class Action : uint8_t { kCount, kIgnore, kFailIndex, kFailJob };
  Action action = Action::kCount;
  std::string message;  // of kFailJob
};
// Of a Pod that has failed: what the first rule that matches says; without one it counts.
FailureVerdict JudgeFailure(const batch::v1::Job& job, const core::v1::Pod& pod);

// Which rule of the success policy the succeeded indexes fulfil first, as the condition's message;
// none if there is none.
std::optional<std::string> MatchSuccessPolicy(const batch::v1::Job& job, const IndexSet& succeeded);

}  // namespace cox::controllers
