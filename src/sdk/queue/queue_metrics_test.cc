// SPDX-License-Identifier: Apache-2.0
#include "sdk/queue/queue_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "coxswain/work_queue.h"

namespace cox::sdk {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

TEST(QueueMetricsTest, HasTheMetricsOfClientGo) {
  TestClock clock;
  MetricsRegistry registry;
  Context ctx(clock);
  const auto queue = WorkQueue::Create(clock, {.name = "web", .metrics = &registry});
  queue->Add({"default", "a"});
  queue->Add({"default", "b"}, kLowPriority);
  queue->Add({"default", "a"});
  queue->AddRateLimited({"default", "c"});
  std::string text = registry.Render();
  EXPECT_THAT(text, HasSubstr(R"(workqueue_adds_total{controller="web",name="web"} 2)"));
  EXPECT_THAT(text, HasSubstr(R"(workqueue_retries_total{controller="web",name="web"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(workqueue_depth{controller="web",name="web",priority="0"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(workqueue_depth{controller="web",name="web",priority="-100"} 1)"));

  clock.Advance(seconds(2));
  ASSERT_TRUE(queue->Get(ctx).has_value());
  ASSERT_TRUE(queue->Get(ctx).has_value());
  clock.Advance(seconds(3));
  text = registry.Render();
  EXPECT_THAT(text, HasSubstr(R"(workqueue_depth{controller="web",name="web",priority="0"} 0)"));
  EXPECT_THAT(text,
              HasSubstr(R"(workqueue_unfinished_work_seconds{controller="web",name="web"} 6)"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(workqueue_longest_running_processor_seconds{controller="web",name="web"} 3)"));
  EXPECT_THAT(text,
              HasSubstr(R"(workqueue_queue_duration_seconds_sum{controller="web",name="web"} )"));
  queue->Done({"default", "a"});
  EXPECT_THAT(registry.Render(),
              HasSubstr(R"(workqueue_work_duration_seconds_sum{controller="web",name="web"} 3)"));
}

TEST(QueueMetricsTest, ComponentsHaveTheLabelsOfClientGo) {
  TestClock clock;
  MetricsRegistry registry(MetricStyle::kComponent);
  Context ctx(clock);
  const auto queue = WorkQueue::Create(clock, {.name = "job", .metrics = &registry});
  queue->Add({"default", "a"});
  queue->Add({"default", "b"}, kLowPriority);
  std::string text = registry.Render();
  EXPECT_THAT(text, HasSubstr("# HELP workqueue_depth [BETA] "));
  EXPECT_THAT(text, HasSubstr("workqueue_adds_total{name=\"job\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_depth{name=\"job\"} 2\n"));
  ASSERT_TRUE(queue->Get(ctx).has_value());
  clock.Advance(seconds(3));
  text = registry.Render();
  EXPECT_THAT(text, HasSubstr("workqueue_depth{name=\"job\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_unfinished_work_seconds{name=\"job\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_longest_running_processor_seconds{name=\"job\"} 3\n"));
}

TEST(QueueMetricsTest, QueuesOfOneRegistryCanBeAddedAndRemoved) {
  TestClock clock;
  MetricsRegistry registry;
  for (int round = 0; round < 2; ++round) {
    const auto first = WorkQueue::Create(clock, {.name = "first", .metrics = &registry});
    {
      const auto second = WorkQueue::Create(clock, {.name = "second", .metrics = &registry});
      EXPECT_THAT(registry.Render(),
                  HasSubstr(R"(workqueue_unfinished_work_seconds{controller="second")"));
    }
    const std::string text = registry.Render();
    EXPECT_THAT(text, HasSubstr(R"(workqueue_unfinished_work_seconds{controller="first")"));
    EXPECT_THAT(text, Not(HasSubstr(R"(workqueue_unfinished_work_seconds{controller="second")")));
  }
}

TEST(QueueMetricsTest, ExcessPrioritiesShareASeries) {
  MetricsRegistry registry;
  QueueMetrics metrics(registry, "web", [] { return QueueMetrics::Running(); });
  for (int priority = 0; priority < 40; ++priority) metrics.Depth(priority).Inc();
  const std::string text = registry.Render();
  EXPECT_THAT(text, HasSubstr(R"(priority="24"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(priority="exceeded_cardinality_limit"} 15)"));
  metrics.Depth(3).Inc();
  EXPECT_THAT(registry.Render(), HasSubstr(R"(priority="3"} 2)"));
}

}  // namespace
}  // namespace cox::sdk
