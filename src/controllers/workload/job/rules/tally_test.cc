// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/rules/tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/testing/test_job.h"

namespace cox::controllers {
namespace {

using batch::v1::Job;
using core::v1::Pod;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using PolicyActions = std::map<FailureResult::Action, int>;

Tally Count(const Job& job, List<Pod> pods, bool ending = false) {
  return CountPods(job, Share(std::move(pods)), ending);
}

TEST(Tally, PodIsCountedOnceInThreeSteps) {
  Job job = TestJob();
  const Pod ended = TestPod("a", "Succeeded");
  // Listed, then released.
  Tally tally = Count(job, {ended, TestPod("b", "Running")});
  EXPECT_THAT(tally.status.uncountedTerminatedPods->succeeded, ElementsAre("uid-a"));
  EXPECT_EQ(tally.status.succeeded, 0);
  EXPECT_EQ(tally.succeeded, 1);
  EXPECT_THAT(NamesOf(tally.release), ElementsAre("a"));
  // Stored but not released: repeated counting changes nothing.
  job.status = tally.status;
  tally = Count(job, {ended});
  EXPECT_THAT(tally.status.uncountedTerminatedPods->succeeded, ElementsAre("uid-a"));
  EXPECT_EQ(tally.succeeded, 1);
  EXPECT_THAT(tally.release, SizeIs(1));
  // Released: the counter contains it.
  tally = Count(job, {Released(ended)});
  EXPECT_THAT(tally.status.uncountedTerminatedPods->succeeded, IsEmpty());
  EXPECT_EQ(tally.status.succeeded, 1);
  EXPECT_EQ(tally.succeeded, 1);
  EXPECT_THAT(tally.release, IsEmpty());
  // The counter stays the same with and without the Pod.
  job.status = tally.status;
  EXPECT_EQ(Count(job, {Released(ended)}).succeeded, 1);
  EXPECT_EQ(Count(job, {}).succeeded, 1);
}

TEST(Tally, ListedPodIsCountedAfterItsDeletion) {
  Job job = TestJob();
  job.status = Count(job, {TestPod("a", "Failed")}).status;
  const Tally tally = Count(job, {});
  EXPECT_EQ(tally.status.failed, 1);
  EXPECT_THAT(tally.status.uncountedTerminatedPods->failed, IsEmpty());
}

TEST(Tally, UncountedListIsLimited) {
  List<Pod> pods;
  for (int i = 0; i < 600; ++i) pods.push_back(TestPod("p" + std::to_string(i), "Succeeded"));
  Job job = TestJob();
  job.spec.completions = 600;
  const Tally tally = Count(job, pods);
  EXPECT_THAT(tally.status.uncountedTerminatedPods->succeeded, SizeIs(kMaxUncounted));
  EXPECT_THAT(tally.release, SizeIs(kMaxUncounted));
}

TEST(Tally, CountsEachValidSucceededIndexOnce) {
  Job job = IndexedJob(3);
  job.status.completedIndexes = "0";
  const Tally tally = Count(job, {IndexedPod("a", "Succeeded", 0), IndexedPod("b", "Succeeded", 2),
                                  IndexedPod("c", "Succeeded", 7), IndexedPod("d", "Failed", 1)});
  EXPECT_EQ(tally.status.completedIndexes, "0,2");
  EXPECT_EQ(tally.succeeded, 2);
  EXPECT_EQ(tally.failed, 1);
  EXPECT_THAT(NamesOf(tally.release), UnorderedElementsAre("a", "b", "c", "d"));
  EXPECT_FALSE(tally.status.failedIndexes.has_value());
}

TEST(Tally, IgnoredFailuresAreReleasedAndNotCounted) {
  Job job = TestJob();
  batch::v1::PodFailurePolicyRule rule;
  rule.action = "Ignore";
  rule.onPodConditions = {{.type = "DisruptionTarget", .status = "True"}};
  job.spec.podFailurePolicy.ensure().rules = {rule};
  Pod pod = TestPod("a", "Failed");
  pod.status.conditions = {{.type = "DisruptionTarget", .status = "True"}};
  const Tally tally = Count(job, {pod});
  EXPECT_EQ(tally.failed, 0);
  EXPECT_THAT(tally.release, SizeIs(1));
  EXPECT_EQ(tally.policy_actions, (PolicyActions{{FailureResult::Action::kIgnore, 1}}));
}

TEST(Tally, FailuresThatMatchARuleAreHandledOnce) {
  Job job = TestJob();
  batch::v1::PodFailurePolicyRule rule;
  rule.action = "Count";
  rule.onPodConditions = {{.type = "DisruptionTarget", .status = "True"}};
  job.spec.podFailurePolicy.ensure().rules = {rule};
  Pod matching = TestPod("a", "Failed");
  matching.status.conditions = {{.type = "DisruptionTarget", .status = "True"}};
  const Pod other = TestPod("b", "Failed");
  const Tally tally = Count(job, {matching, other});
  EXPECT_EQ(tally.policy_actions, (PolicyActions{{FailureResult::Action::kCount, 1}}));
  job.status = tally.status;
  EXPECT_EQ(Count(job, {matching, other}).policy_actions, PolicyActions());
}

TEST(Tally, IgnoredFailureIsHandledWhenItIsReleased) {
  Job job = IndexedJob(1);
  job.spec.backoffLimitPerIndex = 1;
  batch::v1::PodFailurePolicyRule rule;
  rule.action = "Ignore";
  rule.onPodConditions = {{.type = "DisruptionTarget", .status = "True"}};
  job.spec.podFailurePolicy.ensure().rules = {rule};
  Pod pod = IndexedPod("a", "Failed", 0, 0);
  pod.status.conditions = {{.type = "DisruptionTarget", .status = "True"}};
  EXPECT_EQ(Count(job, {pod}).policy_actions, PolicyActions());
  Pod successor = IndexedPod("b", "Running", 0, 0);
  successor.metadata.annotations["batch.kubernetes.io/job-index-ignored-failure-count"] = "1";
  EXPECT_EQ(Count(job, {pod, successor}).policy_actions,
            (PolicyActions{{FailureResult::Action::kIgnore, 1}}));
}

TEST(Tally, LastFailureOfIndexIsHeldUntilReplaced) {
  Job job = IndexedJob(2);
  job.spec.backoffLimitPerIndex = 1;
  const Pod first = IndexedPod("a", "Failed", 0, 0);
  Tally tally = Count(job, {first});
  EXPECT_THAT(tally.release, IsEmpty());
  EXPECT_THAT(tally.awaiting_successor, SizeIs(1));
  EXPECT_EQ(tally.failed, 1);
  EXPECT_EQ(tally.status.failedIndexes, "");
  // The replacement exists: the first Pod is released.
  tally = Count(job, {first, IndexedPod("b", "Running", 0, 1)});
  EXPECT_THAT(NamesOf(tally.release), ElementsAre("a"));
  // The replacement has failed too: the limit is exceeded.
  tally = Count(job, {first, IndexedPod("b", "Failed", 0, 1)});
  EXPECT_EQ(tally.status.failedIndexes, "0");
  EXPECT_THAT(NamesOf(tally.release), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(tally.awaiting_successor, IsEmpty());
  // There will be no replacement.
  EXPECT_THAT(Count(job, {first}, true).release, SizeIs(1));
}

TEST(Tally, DeletedJobReleasesRunningPods) {
  Job job = TestJob();
  EXPECT_THAT(Count(job, {TestPod("a", "Running")}).release, IsEmpty());
  job.metadata.deletionTimestamp = kNow;
  EXPECT_THAT(Count(job, {TestPod("a", "Running")}).release, SizeIs(1));
}

}  // namespace
}  // namespace cox::controllers
