// SPDX-License-Identifier: Apache-2.0
#include "scheduler/queue/scheduling_queue.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/testing/test_clock.h"
#include "scheduler/testing/test_objects.h"

namespace cox::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// "Helper" is interested in added nodes named "good".
QueuePlugins Plugins(const QueueSortPlugin& sort) {
  QueuePlugins plugins;
  plugins.sort = &sort;
  plugins.pre_enqueue = [](const PodInfo& pod) {
    return pod.pod->spec.schedulingGates.empty() ? PluginStatus()
                                                 : PluginStatus::Unresolvable("Gates", "");
  };
  auto& events = plugins.events["default-scheduler"];
  events["Helper"] = {{.bits = kNodeAdd, .hint = [](const PodInfo&, const ClusterEvent& event) {
                         return event.new_node->metadata.name == "good";
                       }}};
  events["Tolerant"] = {{.bits = kPodUpdateToleration, .hint = nullptr}};
  return plugins;
}

class SchedulingQueueTest : public testing::Test {
 protected:
  explicit SchedulingQueueTest(bool pop_from_backoff = false)
      : queue(clock, Plugins(dynamic_cast<const QueueSortPlugin&>(*sort)),
              {.pop_from_backoff = pop_from_backoff}) {}

  // Returns "" if no Pod is ready.
  std::string PopName() {
    last = Pop();
    return last == nullptr ? "" : last->pod->pod->metadata.name;
  }
  QueuedPodPtr Pop() {
    Context now(clock);
    now.Stop();
    const Result<QueuedPodPtr> pod = queue.Pop(now);
    return pod.ok() ? *pod : nullptr;
  }
  void Refuse(const QueuedPodPtr& pod, const std::string& plugin) {
    pod->unschedulable_plugins = {plugin};
    queue.AddUnschedulable(pod);
  }
  void Error(const QueuedPodPtr& pod) {
    pod->unschedulable_plugins.clear();
    queue.AddUnschedulable(pod);
  }
  static ClusterEvent NewNode(const std::string& name) {
    return {.bits = kNodeAdd, .new_node = Share(TestNode(name))};
  }
  static PodInfoPtr WithPriority(const std::string& name, int32_t priority) {
    core::v1::Pod pod = TestPod(name);
    pod.spec.priority = priority;
    return Info(pod);
  }

  TestClock clock;
  std::unique_ptr<Plugin> sort = NewPrioritySort({});
  SchedulingQueue queue;
  QueuedPodPtr last;
};

class BackoffPoppingQueueTest : public SchedulingQueueTest {
 protected:
  BackoffPoppingQueueTest() : SchedulingQueueTest(true) {}
};

TEST_F(SchedulingQueueTest, SortsByPriorityThenAge) {
  queue.Set(WithPriority("old", 0));
  clock.Advance(milliseconds(1));
  queue.Set(WithPriority("urgent", 10));
  queue.Set(WithPriority("young", 0));
  EXPECT_EQ(PopName(), "urgent");
  EXPECT_EQ(PopName(), "old");
  EXPECT_EQ(PopName(), "young");
  EXPECT_EQ(PopName(), "");
  EXPECT_EQ(queue.sizes().in_flight, 3U);
}

TEST_F(SchedulingQueueTest, PodInFlightIsNotQueuedTwice) {
  queue.Set(Info(TestPod("p")));
  EXPECT_EQ(PopName(), "p");
  queue.Set(Info(TestPod("p")));
  EXPECT_EQ(PopName(), "");
  queue.Done("uid-p");
  EXPECT_EQ(queue.sizes().in_flight, 0U);
}

TEST_F(SchedulingQueueTest, RejectedPodWaitsForMatchingEvent) {
  queue.Set(Info(TestPod("p")));
  ASSERT_EQ(PopName(), "p");
  Refuse(last, "Helper");
  EXPECT_EQ(queue.sizes().unschedulable, 1U);
  clock.Advance(seconds(20));
  queue.OnEvent(NewNode("bad"));
  EXPECT_EQ(PopName(), "");
  queue.OnEvent({.bits = kNodeUpdateLabel, .new_node = Share(TestNode("good"))});
  EXPECT_EQ(PopName(), "");
  queue.OnEvent(NewNode("good"));
  EXPECT_EQ(PopName(), "p");
  EXPECT_EQ(last->attempts, 2);
}

TEST_F(SchedulingQueueTest, BackoffDoublesFromOneSecondToTen) {
  queue.Set(Info(TestPod("p")));
  for (const int wait : {1, 2, 4, 8, 10, 10}) {
    ASSERT_EQ(PopName(), "p");
    Refuse(last, "Helper");
    queue.OnEvent(NewNode("good"));
    EXPECT_EQ(queue.sizes().backoff, 1U);
    clock.Advance(seconds(wait) - milliseconds(1));
    EXPECT_EQ(PopName(), "") << wait;
    clock.Advance(milliseconds(1));
  }
  EXPECT_EQ(PopName(), "p");
}

TEST_F(SchedulingQueueTest, ErrorIsRetriedWithoutEvent) {
  queue.Set(Info(TestPod("p")));
  ASSERT_EQ(PopName(), "p");
  Error(last);
  EXPECT_EQ(PopName(), "");
  clock.Advance(seconds(1));
  EXPECT_EQ(PopName(), "p");
}

TEST_F(SchedulingQueueTest, EventDuringAttemptIsNotLost) {
  queue.Set(Info(TestPod("p")));
  ASSERT_EQ(PopName(), "p");
  queue.OnEvent(NewNode("bad"));
  queue.OnEvent(NewNode("good"));
  Refuse(last, "Helper");
  EXPECT_EQ(queue.sizes().unschedulable, 0U);
  clock.Advance(seconds(1));
  ASSERT_EQ(PopName(), "p");
  Refuse(last, "Helper");  // no event since then
  EXPECT_EQ(queue.sizes().unschedulable, 1U);
}

TEST_F(SchedulingQueueTest, EventsBeforeAttemptDoNotCount) {
  queue.Set(Info(TestPod("a")));
  queue.Set(Info(TestPod("b")));
  ASSERT_EQ(PopName(), "a");
  queue.OnEvent(NewNode("good"));
  ASSERT_EQ(PopName(), "b");
  Refuse(last, "Helper");
  EXPECT_EQ(queue.sizes().unschedulable, 1U);
}

TEST_F(SchedulingQueueTest, PodUpdateDuringAttemptIsNotLost) {
  queue.Set(Info(TestPod("p")));
  ASSERT_EQ(PopName(), "p");
  core::v1::Pod tolerating = TestPod("p");
  tolerating.spec.tolerations.emplace_back().key = "k";
  queue.Set(Info(tolerating));
  Refuse(last, "Tolerant");
  EXPECT_EQ(queue.sizes().backoff, 1U);
  clock.Advance(seconds(1));
  ASSERT_EQ(PopName(), "p");
  EXPECT_EQ(last->pod->pod->spec.tolerations.size(), 1U);
}

TEST_F(SchedulingQueueTest, UpdateOfUnschedulablePodRequeuesIfPluginIsInterested) {
  queue.Set(Info(TestPod("p")));
  ASSERT_EQ(PopName(), "p");
  Refuse(last, "Tolerant");
  clock.Advance(seconds(2));
  core::v1::Pod changed = TestPod("p");
  changed.status.phase = "Pending";
  queue.Set(Info(changed));
  EXPECT_EQ(PopName(), "");
  changed.spec.tolerations.emplace_back().key = "k";
  queue.Set(Info(changed));
  EXPECT_EQ(PopName(), "p");
}

TEST_F(SchedulingQueueTest, RetriesAfterFiveMinutesWithoutEvent) {
  queue.Set(Info(TestPod("p")));
  ASSERT_EQ(PopName(), "p");
  Refuse(last, "Helper");
  clock.Advance(seconds(299));
  EXPECT_EQ(PopName(), "");
  clock.Advance(seconds(31));
  EXPECT_EQ(PopName(), "p");
}

TEST_F(SchedulingQueueTest, GatedPodIsNotAttemptedUntilGatesAreRemoved) {
  core::v1::Pod pod = TestPod("p");
  pod.spec.schedulingGates.emplace_back().name = "g";
  queue.Set(Info(pod));
  EXPECT_EQ(queue.sizes().gated, 1U);
  EXPECT_EQ(queue.sizes().unschedulable, 0U);
  clock.Advance(seconds(600));
  queue.OnEvent(NewNode("good"));
  EXPECT_EQ(PopName(), "");
  pod.spec.schedulingGates.clear();
  queue.Set(Info(pod));
  EXPECT_EQ(queue.sizes().gated, 0U);
  EXPECT_EQ(PopName(), "p");
  EXPECT_EQ(last->attempts, 1);
}

TEST_F(SchedulingQueueTest, DeleteRemovesPodFromAllPlaces) {
  queue.Set(Info(TestPod("active")));
  queue.Delete("uid-active");
  EXPECT_EQ(PopName(), "");
  queue.Set(Info(TestPod("flying")));
  ASSERT_EQ(PopName(), "flying");
  queue.Delete("uid-flying");
  Error(last);
  clock.Advance(seconds(60));
  EXPECT_EQ(PopName(), "");
  queue.Set(Info(TestPod("refused")));
  ASSERT_EQ(PopName(), "refused");
  Refuse(last, "Helper");
  queue.Delete("uid-refused");
  EXPECT_EQ(queue.sizes().unschedulable, 0U);
}

TEST_F(SchedulingQueueTest, OnlyIfKnownDoesNotAddPods) {
  queue.Set(Info(TestPod("p")), /*only_if_known=*/true);
  EXPECT_EQ(PopName(), "");
}

TEST_F(SchedulingQueueTest, PendingPluginsSkipTheBackoff) {
  queue.Set(Info(TestPod("p")));
  ASSERT_EQ(PopName(), "p");
  last->pending_plugins = {"Helper"};
  queue.AddUnschedulable(last);
  queue.OnEvent(NewNode("good"));
  EXPECT_EQ(PopName(), "p");
}

TEST_F(SchedulingQueueTest, CountsRejectionsByPlugin) {
  queue.Set(Info(TestPod("p")));
  ASSERT_EQ(PopName(), "p");
  Refuse(last, "Helper");
  const auto counts = queue.CountUnschedulable();
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts.begin()->first.second, "Helper");
}

TEST_F(SchedulingQueueTest, PopWakesWhenBackoffEnds) {
  queue.Set(Info(TestPod("p")));
  ASSERT_EQ(PopName(), "p");
  Error(last);
  std::string popped;
  std::thread waiting([&] {
    Context ctx(clock);
    const Result<QueuedPodPtr> pod = queue.Pop(ctx);
    if (pod.ok()) popped = (*pod)->pod->pod->metadata.name;
  });
  clock.WaitForWaiters(1);
  clock.Advance(seconds(1));
  waiting.join();
  EXPECT_EQ(popped, "p");
}

TEST_F(BackoffPoppingQueueTest, EmptyActiveQueuePopsFromBackoffEarly) {
  queue.Set(Info(TestPod("p")));
  ASSERT_EQ(PopName(), "p");
  Refuse(last, "Helper");
  EXPECT_EQ(PopName(), "");  // no event yet
  queue.OnEvent(NewNode("good"));
  EXPECT_EQ(PopName(), "p");
  Error(last);
  EXPECT_EQ(PopName(), "");  // errors wait for their backoff
}

}  // namespace
}  // namespace cox::scheduler
