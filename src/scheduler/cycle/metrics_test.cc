// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cycle/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::scheduler {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

TEST(SchedulerMetrics, PermitWaitsAreRecordedByResult) {
  MetricsRegistry registry;
  Metrics metrics(registry);
  metrics.PermitWaited(Code::kSuccess, seconds(2));
  metrics.PermitWaited(Code::kUnschedulable, seconds(9));
  const std::string text = registry.Render();
  const std::string name = "scheduler_permit_wait_duration_seconds_sum";
  EXPECT_THAT(text, HasSubstr(name + "{result=\"Success\"} 2\n"));
  EXPECT_THAT(text, HasSubstr(name + "{result=\"Unschedulable\"} 9\n"));
}

TEST(SchedulerMetrics, ScheduledPodsAreRecordedByAttempts) {
  MetricsRegistry registry;
  Metrics metrics(registry);
  metrics.CountScheduled(1, seconds(3));
  metrics.CountScheduled(20, seconds(5));
  const std::string text = registry.Render();
  const std::string name = "scheduler_pod_scheduling_sli_duration_seconds_sum";
  EXPECT_THAT(text, HasSubstr(name + "{attempts=\"1\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(name + "{attempts=\"15+\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_pod_scheduling_attempts_sum 21\n"));
}

}  // namespace
}  // namespace cox::scheduler
