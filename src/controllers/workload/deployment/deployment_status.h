// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/apps/v1.h"
#include "base/clock.h"
#include "controllers/workload/deployment/revisions.h"

// Computes the status of a deployment: replica counts and conditions. Pure functions.
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

// Returns whether progressDeadlineSeconds is set; without it, there is no condition Progressing.
bool HasDeadline(const apps::v1::Deployment& deployment);

// Sets the condition. If the present one has the same status and reason, it is unchanged, including
// times and message.
void SetDeploymentCondition(apps::v1::DeploymentStatus& status, std::string_view type,
                            std::string_view value, std::string_view reason, std::string message,
                            const Time& now);

// Records pause and resume in the condition Progressing, so that the paused time does not count
// towards the deadline. Returns true if the status changed.
bool NotePause(const apps::v1::Deployment& deployment, apps::v1::DeploymentStatus& status,
               const Time& now);

// Computes the replica counts and the condition Available.
apps::v1::DeploymentStatus CountsOf(const apps::v1::Deployment& deployment, const ReplicaSets& sets,
                                    const Time& now);
// Like CountsOf, with the conditions Progressing (complete, progressing, timed out) and
// ReplicaFailure.
apps::v1::DeploymentStatus RolloutStatusOf(const apps::v1::Deployment& deployment,
                                           const ReplicaSets& sets, const Time& now);

// All Pods have the latest template and are available, and there are no others.
bool IsComplete(const apps::v1::Deployment& deployment, const apps::v1::DeploymentStatus& status);

// Time until the progress deadline has to be checked; nullopt if no progress is awaited.
std::optional<Clock::Duration> DeadlineIn(const apps::v1::Deployment& deployment,
                                          const apps::v1::DeploymentStatus& status,
                                          const Time& now);

}  // namespace cox::controllers::deployment
