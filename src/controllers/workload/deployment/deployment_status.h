// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/apps/v1.h"
#include "base/clock.h"
#include "controllers/workload/deployment/revisions.h"

// What a deployment's status says: how many Pods there are, and whether it gets on. Pure functions.
namespace cox::controllers::deployment {

// Reasons of the condition Progressing.
inline constexpr std::string_view kCreated = "NewReplicaSetCreated";
inline constexpr std::string_view kFound = "FoundNewReplicaSet";
inline constexpr std::string_view kUpdated = "ReplicaSetUpdated";
inline constexpr std::string_view kComplete = "NewReplicaSetAvailable";
inline constexpr std::string_view kTimedOut = "ProgressDeadlineExceeded";
inline constexpr std::string_view kCreateFailed = "ReplicaSetCreateError";
inline constexpr std::string_view kPaused = "DeploymentPaused";
inline constexpr std::string_view kResumed = "DeploymentResumed";

// Whether progress is watched at all.
bool HasDeadline(const apps::v1::Deployment& deployment);

// Says so in the status, unless it does: what has the same status and reason stays as it is, with
// its times and its message.
void SetDeploymentCondition(apps::v1::DeploymentStatus& status, std::string_view type,
                            std::string_view value, std::string_view reason, std::string message,
                            const Time& now);

// Puts down that it was paused or resumed, so that the time meanwhile does not count against the
// deadline. True if that changed anything.
bool NotePause(const apps::v1::Deployment& deployment, apps::v1::DeploymentStatus& status,
               const Time& now);

// Counts, and whether enough are available.
apps::v1::DeploymentStatus CountsOf(const apps::v1::Deployment& deployment, const ReplicaSets& sets,
                                    const Time& now);
// The same and how the rollout gets on: complete, progressing, out of time; what its sets failed
// at.
apps::v1::DeploymentStatus RolloutStatusOf(const apps::v1::Deployment& deployment,
                                           const ReplicaSets& sets, const Time& now);

// All Pods are of the latest template and available, and no others are there.
bool IsComplete(const apps::v1::Deployment& deployment, const apps::v1::DeploymentStatus& status);

// When to look whether the deadline has passed; none if nothing is waited for.
std::optional<Clock::Duration> DeadlineIn(const apps::v1::Deployment& deployment,
                                          const apps::v1::DeploymentStatus& status,
                                          const Time& now);

}  // namespace cox::controllers::deployment
