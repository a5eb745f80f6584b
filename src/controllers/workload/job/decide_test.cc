// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/testing/test_job.h"
#include "controllers/workload/job/rules/outcome.h"
#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

using batch::v1::Job;
using batch::v1::JobCondition;
using core::v1::Pod;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

JobPlan Plan(const Job& job, List<Pod> pods) { return Decide(job, Share(std::move(pods)), kNow); }
std::string Reason(const JobPlan& plan, const char* type) {
  const JobCondition* condition = FindCondition(plan.status.conditions, type);
  return condition == nullptr ? "" : condition->status + " " + condition->reason;
}
std::vector<int> Indexes(const JobPlan& plan) {
  std::vector<int> out;
  for (const NewPod& pod : plan.create) out.push_back(pod.index);
  return out;
}

TEST(Decide, CreatesAndRemovesUpToParallelismAndCompletions) {
  struct Case {
    int32_t parallelism;
    std::optional<int32_t> completions;
    int32_t succeeded;
    int active;
    size_t create, remove;
  };
  for (const Case& c : {
           Case{1, 1, 0, 0, 1, 0}, Case{3, 10, 0, 0, 3, 0}, Case{3, 10, 0, 2, 1, 0},
           Case{3, 10, 8, 0, 2, 0},  // not more than the missing completions
           Case{3, 10, 8, 3, 0, 1}, Case{2, 10, 0, 5, 0, 3}, Case{0, 10, 0, 2, 0, 2},
           Case{3, std::nullopt, 0, 1, 2, 0},
           Case{3, std::nullopt, 1, 1, 0, 0},  // the first success is sufficient
       }) {
    Job job = TestJob();
    job.spec.parallelism = c.parallelism;
    job.spec.completions = c.completions;
    job.status.succeeded = c.succeeded;
    List<Pod> pods;
    for (int i = 0; i < c.active; ++i) pods.push_back(TestPod("p" + std::to_string(i), "Running"));
    const JobPlan plan = Plan(job, pods);
    EXPECT_THAT(plan.create, SizeIs(c.create)) << c.parallelism << " " << c.active;
    EXPECT_THAT(plan.remove, SizeIs(c.remove)) << c.parallelism << " " << c.active;
    EXPECT_EQ(plan.remove_uncounted, c.remove > 0);
    EXPECT_EQ(plan.status.active,
              c.active + static_cast<int>(c.create) - static_cast<int>(c.remove));
  }
}

TEST(Decide, SetsStartTimeAndDeadline) {
  Job job = TestJob();
  job.status.startTime.reset();
  job.spec.activeDeadlineSeconds = 60;
  const JobPlan plan = Plan(job, {});
  EXPECT_EQ(plan.status.startTime, kNow);
  EXPECT_EQ(plan.requeue_after, seconds(60));
  EXPECT_EQ(plan.status.ready, 0);
  EXPECT_EQ(plan.status.terminating, 0);
}

TEST(Decide, FailedPodsAreReplacedAfterBackoff) {
  const JobPlan waits = Plan(TestJob(), {TestPod("a", "Failed", 3)});
  EXPECT_THAT(waits.create, IsEmpty());
  EXPECT_EQ(waits.requeue_after, seconds(7));
  EXPECT_THAT(Plan(TestJob(), {TestPod("a", "Failed", 10)}).create, SizeIs(1));
}

TEST(Decide, CompletesWhenAllPodsAreCounted) {
  Job job = TestJob();
  const Pod pod = TestPod("a", "Succeeded");
  JobPlan plan = Plan(job, {pod});
  EXPECT_EQ(Reason(plan, "SuccessCriteriaMet"), "True CompletionsReached");
  EXPECT_EQ(Reason(plan, "Complete"), "");  // the Pod is not counted yet
  EXPECT_FALSE(plan.status.completionTime.has_value());
  job.status = plan.status;
  plan = Plan(job, {Released(pod)});
  EXPECT_EQ(Reason(plan, "Complete"), "True CompletionsReached");
  EXPECT_EQ(plan.status.succeeded, 1);
  EXPECT_EQ(plan.status.completionTime, kNow);
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_EQ(plan.events[0].reason, "Completed");
  // The Job is finished.
  job.status = plan.status;
  plan = Plan(job, {Released(pod), TestPod("late", "Running")});
  EXPECT_THAT(plan.create, IsEmpty());
  EXPECT_THAT(plan.remove, IsEmpty());
  EXPECT_THAT(NamesOf(plan.release), ElementsAre("late"));
}

TEST(Decide, FailsWhenBackoffLimitIsReachedAndAllPodsEnded) {
  Job job = TestJob();
  job.spec.backoffLimit = 1;
  job.spec.parallelism = 2;
  job.spec.completions = 5;
  job.status.failed = 1;
  Pod running = TestPod("b", "Running");
  JobPlan plan = Plan(job, {TestPod("a", "Failed"), running});
  EXPECT_EQ(Reason(plan, "FailureTarget"), "True BackoffLimitExceeded");
  EXPECT_EQ(Reason(plan, "Failed"), "");
  EXPECT_THAT(NamesOf(plan.remove), ElementsAre("b"));
  EXPECT_FALSE(plan.remove_uncounted);
  EXPECT_THAT(plan.create, IsEmpty());
  EXPECT_EQ(plan.status.active, 0);
  EXPECT_EQ(plan.status.terminating, 1);
  job.status = plan.status;
  running.metadata.deletionTimestamp = kNow;
  plan = Plan(job, {Released(TestPod("a", "Failed")), running});
  EXPECT_EQ(Reason(plan, "Failed"), "");
  job.status = plan.status;
  plan = Plan(job, {Released(TestPod("a", "Failed"))});
  EXPECT_EQ(Reason(plan, "Failed"), "True BackoffLimitExceeded");
  EXPECT_EQ(plan.status.failed, 3);
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_TRUE(plan.events[0].warning);
}

TEST(Decide, RestartsCountTowardsBackoffLimit) {
  Job job = TestJob();
  job.spec.template_.spec.restartPolicy = "OnFailure";
  job.spec.backoffLimit = 2;
  Pod pod = TestPod("a", "Running");
  pod.status.containerStatuses[0].restartCount = 1;
  EXPECT_EQ(Reason(Plan(job, {pod}), "FailureTarget"), "");
  pod.status.containerStatuses[0].restartCount = 2;
  EXPECT_EQ(Reason(Plan(job, {pod}), "FailureTarget"), "True BackoffLimitExceeded");
}

TEST(Decide, ActiveDeadlineEndsJob) {
  Job job = TestJob();
  job.spec.activeDeadlineSeconds = 1001;
  EXPECT_EQ(Plan(job, {TestPod("a", "Running")}).requeue_after, seconds(1));
  job.spec.activeDeadlineSeconds = 1000;
  const JobPlan plan = Plan(job, {TestPod("a", "Running")});
  EXPECT_EQ(Reason(plan, "FailureTarget"), "True DeadlineExceeded");
  EXPECT_THAT(plan.remove, SizeIs(1));
}

TEST(Decide, SuspendsAndResumes) {
  Job job = TestJob();
  job.spec.suspend = true;
  job.spec.activeDeadlineSeconds = 1;
  JobPlan plan = Plan(job, {TestPod("a", "Running")});
  EXPECT_EQ(Reason(plan, "Suspended"), "True JobSuspended");
  EXPECT_THAT(plan.remove, SizeIs(1));
  EXPECT_TRUE(plan.remove_uncounted);
  EXPECT_FALSE(plan.status.startTime.has_value());
  EXPECT_EQ(plan.requeue_after, std::nullopt);
  ASSERT_THAT(plan.events, SizeIs(1));
  job.status = plan.status;
  EXPECT_THAT(Plan(job, {}).events, IsEmpty());
  job.spec.suspend = false;
  plan = Plan(job, {});
  EXPECT_EQ(Reason(plan, "Suspended"), "False JobResumed");
  EXPECT_EQ(plan.status.startTime, kNow);
  EXPECT_THAT(plan.create, SizeIs(1));
}

TEST(Decide, TerminatingPodsAreNotReplacedWithPolicyFailed) {
  Job job = TestJob();
  Pod going = TestPod("a", "Running", 0);
  going.metadata.deletionTimestamp = Time::FromUnix(kNow.unix_seconds() - 100);
  EXPECT_THAT(Plan(job, {going}).create, SizeIs(1));
  job.spec.podReplacementPolicy = "Failed";
  EXPECT_THAT(Plan(job, {going}).create, IsEmpty());
}

TEST(Decide, MissingIndexesAreCreated) {
  Job job = IndexedJob(5);
  job.spec.parallelism = 3;
  job.status.completedIndexes = "1";
  job.status.succeeded = 1;
  EXPECT_THAT(Indexes(Plan(job, {IndexedPod("a", "Running", 2)})), ElementsAre(0, 3));
}

TEST(Decide, DuplicateAndSurplusIndexesAreRemoved) {
  Job job = IndexedJob(3);
  job.status.completedIndexes = "1";
  job.status.succeeded = 1;
  const JobPlan plan = Plan(job, {IndexedPod("a", "Running", 0), IndexedPod("b", "Running", 0),
                                  IndexedPod("c", "Running", 1), IndexedPod("d", "Running", 9)});
  EXPECT_THAT(NamesOf(plan.remove), ElementsAre("b", "c", "d"));
}

TEST(Decide, IndexBackoffDependsOnItsOwnFailures) {
  Job job = IndexedJob(3);
  job.spec.backoffLimitPerIndex = 3;
  job.spec.backoffLimit = 1'000'000;
  const JobPlan plan =
      Plan(job, {IndexedPod("a", "Failed", 0, 0, 4), IndexedPod("b", "Failed", 1, 1, 60)});
  EXPECT_THAT(Indexes(plan), ElementsAre(1, 2));
  EXPECT_EQ(plan.create[0].failures, 2);
  EXPECT_EQ(plan.create[1].failures, 0);
  EXPECT_EQ(plan.requeue_after, seconds(6));
}

TEST(Decide, FailedIndexesFailJobWhenAllIndexesEnded) {
  Job job = IndexedJob(2);
  job.spec.backoffLimitPerIndex = 0;
  job.spec.backoffLimit = 1'000'000;
  JobPlan plan = Plan(job, {IndexedPod("a", "Failed", 0), IndexedPod("b", "Running", 1)});
  EXPECT_EQ(plan.status.failedIndexes, "0");
  EXPECT_EQ(Reason(plan, "FailureTarget"), "");
  EXPECT_THAT(plan.create, IsEmpty());
  plan = Plan(job, {IndexedPod("a", "Failed", 0), IndexedPod("b", "Succeeded", 1)});
  EXPECT_EQ(Reason(plan, "FailureTarget"), "True FailedIndexes");
  job.spec.maxFailedIndexes = 0;
  plan = Plan(job, {IndexedPod("a", "Failed", 0), IndexedPod("b", "Running", 1)});
  EXPECT_EQ(Reason(plan, "FailureTarget"), "True MaxFailedIndexesExceeded");
}

TEST(Decide, SuccessPolicyEndsJobEarly) {
  Job job = IndexedJob(3);
  job.spec.successPolicy.ensure().rules = {{.succeededIndexes = "0"}};
  const JobPlan plan = Plan(job, {IndexedPod("a", "Succeeded", 0), IndexedPod("b", "Running", 1)});
  EXPECT_EQ(Reason(plan, "SuccessCriteriaMet"), "True SuccessPolicy");
  EXPECT_THAT(NamesOf(plan.remove), ElementsAre("b"));
}

TEST(Decide, DeletedJobCreatesNoPods) {
  Job job = TestJob();
  job.metadata.deletionTimestamp = kNow;
  const JobPlan plan = Plan(job, {});
  EXPECT_THAT(plan.create, IsEmpty());
}

}  // namespace
}  // namespace cox::controllers
