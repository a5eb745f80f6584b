// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/testing/test_job.h"

namespace cox::controllers {
namespace {

using core::v1::Pod;
using testing::HasSubstr;

TEST(JobMetrics, TransitionsOfTheTrackingFinalizerAreCountedOnce) {
  const Pod running = TestPod("a", "Running");
  const Pod failed = TestPod("a", "Failed");
  const Pod released = Released(failed);
  Pod untracked = Released(running);
  const TrackedTransitions none, added{.added = 1}, deleted{.deleted = 1};
  EXPECT_EQ(TransitionsBetween(nullptr, &running), none);
  EXPECT_EQ(TransitionsBetween(nullptr, &failed), added);
  EXPECT_EQ(TransitionsBetween(nullptr, &released), none);
  EXPECT_EQ(TransitionsBetween(&running, &failed), added);
  EXPECT_EQ(TransitionsBetween(&failed, &failed), none);
  EXPECT_EQ(TransitionsBetween(&failed, &released), deleted);
  EXPECT_EQ(TransitionsBetween(&failed, nullptr), deleted);
  EXPECT_EQ(TransitionsBetween(&released, nullptr), none);
  EXPECT_EQ(TransitionsBetween(&untracked, &released), none);
  // The versions between were not observed.
  EXPECT_EQ(TransitionsBetween(&running, &released), (TrackedTransitions{1, 1}));
}

TEST(JobMetrics, SyncsAreCountedByModeResultAndAction) {
  MetricsRegistry registry;
  JobMetrics metrics(registry);
  batch::v1::Job job = TestJob();
  metrics.Synced(job, true, SyncAction::kTracking, std::chrono::milliseconds(5));
  metrics.Synced(job, true, SyncAction::kTracking, std::chrono::milliseconds(5));
  metrics.Synced(job, false, SyncAction::kPodsCreated, std::chrono::milliseconds(5));
  job.spec.completionMode = "Indexed";
  metrics.Synced(job, true, SyncAction::kTracking, std::chrono::milliseconds(5));
  const std::string text = registry.Render();
  EXPECT_THAT(text, HasSubstr(R"(job_controller_job_syncs_total{action="tracking",)"
                              R"(completion_mode="NonIndexed",result="success"} 2)"));
  EXPECT_THAT(text, HasSubstr(R"(job_controller_job_syncs_total{action="pods_created",)"
                              R"(completion_mode="NonIndexed",result="error"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(job_controller_job_syncs_total{action="tracking",)"
                              R"(completion_mode="Indexed",result="success"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(job_controller_job_sync_duration_seconds_sum{action="tracking",)"
                              R"(completion_mode="NonIndexed",result="success"} 0.01)"));
}

TEST(JobMetrics, ActionsOfTheFailurePolicyAreCounted) {
  MetricsRegistry registry;
  JobMetrics metrics(registry);
  metrics.HandledByPolicy(FailureResult::Action::kIgnore, 2);
  metrics.HandledByPolicy(FailureResult::Action::kFailJob, 1);
  const std::string text = registry.Render();
  const std::string name = "job_controller_pod_failures_handled_by_failure_policy_total";
  EXPECT_THAT(text, HasSubstr(name + "{action=\"FailJob\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(name + "{action=\"Ignore\"} 2\n"));
}

}  // namespace
}  // namespace cox::controllers
