// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/job_controller.h"

#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <thread>

#include "api/batch/v1.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/job/pods/job_pod.h"
#include "coxswain/conditions.h"
#include "harness.h"
#include "object/owner.h"

namespace cox::controllers {
namespace {

using batch::v1::Job;
using core::v1::Pod;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;
using testkit::WaitFor;

class JobTest : public ControllerTest {
 protected:
  static Job MakeJob(int32_t parallelism, int32_t completions) {
    Job job;
    job.metadata = {.name = "pi", .namespace_ = "default"};
    job.spec.parallelism = parallelism;
    job.spec.completions = completions;
    core::v1::Container container;
    container.name = "main";
    container.image = "perl";
    job.spec.template_.spec.containers = {container};
    job.spec.template_.spec.restartPolicy = "Never";
    return job;
  }
  List<Pod> Pods() {
    List<Pod> pods;
    for (const auto& pod : manager->cache().ListerOf<Pod>().List("default")) pods.push_back(*pod);
    return pods;
  }
  List<Pod> ActivePods() {
    List<Pod> pods = Pods();
    // The cache may not contain the status of Pods that the test has ended.
    erase_if(pods, [this](const Pod& pod) {
      return !pods::IsActive(pod) || ended_pods.contains(pod.metadata.uid);
    });
    return pods;
  }
  // Waits until this number of Pods is active.
  List<Pod> AwaitActive(size_t count) {
    const Status held = testkit::WaitForCache(*ctx, manager->cache().InformerOf<Pod>().shared(),
                                              [&] { return ActivePods().size() == count; });
    EXPECT_TRUE(held.ok()) << held.ToString();
    return ActivePods();
  }
  // Writes the status of a terminated Pod, like a kubelet.
  void End(Pod pod, const std::string& phase) {
    ended_pods.insert(pod.metadata.uid);
    pod.status.phase = phase;
    core::v1::ContainerStatus status;
    status.name = "main";
    status.image = "perl";
    auto& ended_state = status.state.terminated.ensure();
    ended_state.exitCode = phase == "Failed" ? 1 : 0;
    ended_state.finishedAt = TimeNow(clock ? static_cast<Clock&>(*clock) : cluster->clock());
    pod.status.containerStatuses = {status};
    const auto stored = client().UpdateStatus(*ctx, std::move(pod));
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  }
  Job AwaitJob(const std::function<bool(const Job&)>& holds) {
    const auto job = WaitFor<Job>(*ctx, client(), {"default", "pi"}, holds);
    EXPECT_TRUE(job.ok()) << job.status().ToString();
    return job.ok() ? *job : Job();
  }
  static std::string ReasonOf(const Job& job, const char* type) {
    const auto* condition = FindCondition(job.status.conditions, type);
    return condition == nullptr || condition->status != "True" ? "" : condition->reason;
  }
  void ExpectReleased() {
    const Status held =
        testkit::WaitForCache(*ctx, manager->cache().InformerOf<Pod>().shared(), [this] {
          const List<Pod> pods = Pods();
          return std::none_of(pods.begin(), pods.end(), IsTracked);
        });
    EXPECT_TRUE(held.ok()) << held.ToString();
  }

  std::set<std::string> ended_pods;  // by uid
};

TEST_F(JobTest, PodsOfALargeJobAreListedOnceForManyChanges) {
  clock.emplace();
  Start({AddJobController});
  Create(MakeJob(100, 1000));
  AwaitJob([](const Job& job) { return job.status.active == 100; });
  AwaitActive(100);
  const double before = Listed<Pod>();
  const auto pods = client().List<Pod>(*ctx, {.ns = "default"});
  ASSERT_TRUE(pods.ok());
  for (size_t i = 0; i < 20; ++i) {
    Pod pod = pods->items[i];
    pod.status.phase = core::v1::kPodRunning;
    SetCondition(pod.status.conditions,
                 {.type = core::v1::kPodReady, .status = core::v1::kConditionTrue},
                 TimeNow(cluster->clock()));
    const double reconciles = Reconciles("job-controller");
    ASSERT_TRUE(client().UpdateStatus(*ctx, std::move(pod)).ok());
    AwaitReconcile("job-controller", reconciles);
  }
  EXPECT_EQ(Listed<Pod>(), before);
  const auto job = Eventually<Job>(
      {"default", "pi"}, [](const Job* pi) { return pi != nullptr && pi->status.ready == 20; });
  EXPECT_TRUE(job.ok()) << job.status().ToString();
}

TEST_F(JobTest, RunsPodsUntilCompletions) {
  Create(MakeJob(2, 3));
  Start({AddJobController});
  for (const Pod& pod : AwaitActive(2)) {
    EXPECT_TRUE(IsTracked(pod));
    EXPECT_EQ(*pod.metadata.labels.Get(kJobNameLabel), "pi");
    End(pod, "Succeeded");
  }
  End(AwaitActive(1).at(0), "Succeeded");
  const Job job = AwaitJob([](const Job& now) { return ReasonOf(now, "Complete") != ""; });
  EXPECT_EQ(job.status.succeeded, 3);
  EXPECT_EQ(job.status.failed, 0);
  EXPECT_EQ(job.status.active, 0);
  EXPECT_EQ(job.status.ready, 0);
  EXPECT_EQ(job.status.terminating, 0);
  EXPECT_TRUE(job.status.startTime.has_value());
  EXPECT_TRUE(job.status.completionTime.has_value());
  EXPECT_EQ(ReasonOf(job, "SuccessCriteriaMet"), "CompletionsReached");
  ASSERT_TRUE(job.status.uncountedTerminatedPods.has_value());
  EXPECT_THAT(job.status.uncountedTerminatedPods->succeeded, IsEmpty());
  ExpectReleased();
  EXPECT_THAT(Pods(), SizeIs(3));
  const std::string tracked = "job_controller_terminated_pods_tracking_finalizer_total{";
  AwaitMetric(tracked, R"(event="add")", 3);
  AwaitMetric(tracked, R"(event="delete")", 3);
  AwaitMetric("job_controller_jobs_finished_total{", R"(result="succeeded")", 1);
  EXPECT_GE(Metric("job_controller_job_syncs_total{", R"(action="pods_created")"), 2);
  EXPECT_GE(Metric("job_controller_job_sync_duration_seconds_count{", R"(result="success")"), 2);
}

TEST_F(JobTest, FailuresHandledByThePolicyAreCounted) {
  Job wanted = MakeJob(1, 1);
  batch::v1::PodFailurePolicyRule rule;
  rule.action = "FailJob";
  rule.onPodConditions = {{.type = "DisruptionTarget", .status = "True"}};
  wanted.spec.podFailurePolicy.ensure().rules = {rule};
  Create(wanted);
  Start({AddJobController});
  Pod pod = AwaitActive(1).at(0);
  pod.status.conditions.push_back({.type = "DisruptionTarget", .status = "True"});
  End(pod, "Failed");
  AwaitJob([](const Job& now) { return ReasonOf(now, "Failed") == "PodFailurePolicy"; });
  AwaitMetric("job_controller_pod_failures_handled_by_failure_policy_total{", R"(action="FailJob")",
              1);
}

TEST_F(JobTest, ManyPodsAreCountedOnce) {
  Create(MakeJob(60, 60));
  Start({AddJobController});
  for (const Pod& pod : AwaitActive(60)) End(pod, "Succeeded");
  const Job job = AwaitJob([](const Job& now) { return ReasonOf(now, "Complete") != ""; });
  EXPECT_EQ(job.status.succeeded, 60);
  ExpectReleased();
}

TEST_F(JobTest, IndexedJobsRunEachIndexOnce) {
  Job wanted = MakeJob(3, 3);
  wanted.spec.completionMode = "Indexed";
  Create(wanted);
  Start({AddJobController});
  std::set<int32_t> indexes;
  for (const Pod& pod : AwaitActive(3)) {
    indexes.insert(CompletionIndexOf(pod));
    EXPECT_EQ(pod.spec.hostname, "pi-" + std::to_string(CompletionIndexOf(pod)));
    if (CompletionIndexOf(pod) != 1) End(pod, "Succeeded");
  }
  EXPECT_EQ(indexes, (std::set<int32_t>{0, 1, 2}));
  AwaitJob([](const Job& now) { return now.status.completedIndexes == "0,2"; });
  End(AwaitActive(1).at(0), "Succeeded");
  const Job job = AwaitJob([](const Job& now) { return ReasonOf(now, "Complete") != ""; });
  EXPECT_EQ(job.status.completedIndexes, "0-2");
  EXPECT_EQ(job.status.succeeded, 3);
}

TEST_F(JobTest, PodsOfADeletedJobAreReleased) {
  Create(MakeJob(2, 2));
  Start({AddJobController});
  AwaitActive(2);
  AwaitJob([](const Job& now) { return now.status.active == 2; });
  ASSERT_TRUE(client()
                  .Delete<Job>(*ctx, {"default", "pi"}, {.propagation = Propagation::kBackground})
                  .ok());
  ExpectReleased();
}

// Without labels the former owner is unknown, so the finalizer must be removed with the owner
// reference.
TEST_F(JobTest, ReleasedPodHasNoFinalizer) {
  Create(MakeJob(1, 1));
  Start({AddJobController});
  const ObjectKey key = KeyOf(AwaitActive(1).at(0));
  ASSERT_TRUE(
      client().PatchObject<Pod>(*ctx, key, Patch::Merge(R"({"metadata":{"labels":null}})")).ok());
  const auto free = WaitFor<Pod>(
      *ctx, client(), key, [](const Pod& pod) { return GetControllerOf(pod.metadata) == nullptr; });
  ASSERT_TRUE(free.ok()) << free.status().ToString();
  EXPECT_FALSE(IsTracked(*free));
}

TEST_F(JobTest, AdoptedPodCounts) {
  Job wanted = MakeJob(1, 1);
  wanted.spec.manualSelector = true;
  wanted.spec.selector.ensure().matchLabels = {{"app", "pi"}};
  wanted.spec.template_.metadata.labels = {{"app", "pi"}};
  Pod orphan;
  orphan.metadata = {.name = "orphan", .namespace_ = "default", .labels = {{"app", "pi"}}};
  orphan.spec = wanted.spec.template_.spec;
  Create(orphan);
  Create(wanted);
  Start({AddJobController});
  const auto adopted = WaitFor<Pod>(*ctx, client(), {"default", "orphan"}, IsTracked);
  ASSERT_TRUE(adopted.ok()) << adopted.status().ToString();
  EXPECT_NE(GetControllerOf(adopted->metadata), nullptr);
  End(*adopted, "Succeeded");
  const Job job = AwaitJob([](const Job& now) { return ReasonOf(now, "Complete") != ""; });
  EXPECT_EQ(job.status.succeeded, 1);
  EXPECT_THAT(Pods(), SizeIs(1));
  ExpectReleased();
}

TEST_F(JobTest, SuspendDeletesPodsWithoutFailuresAndResumes) {
  Job wanted = MakeJob(2, 2);
  wanted.spec.suspend = true;
  Create(wanted);
  Start({AddJobController});
  AwaitJob([](const Job& now) { return ReasonOf(now, "Suspended") == "JobSuspended"; });
  EXPECT_THAT(Pods(), IsEmpty());
  const auto suspend = [this](bool on) {
    const auto patched = client().PatchObject<Job>(
        *ctx, {"default", "pi"},
        Patch::Merge(std::string(R"({"spec":{"suspend":)") + (on ? "true}}" : "false}}")));
    ASSERT_TRUE(patched.ok()) << patched.status().ToString();
  };
  suspend(false);
  AwaitActive(2);
  AwaitJob([](const Job& now) { return now.status.active == 2 && now.status.startTime; });
  suspend(true);
  AwaitActive(0);
  const Job job = AwaitJob([](const Job& now) {
    return ReasonOf(now, "Suspended") == "JobSuspended" && now.status.active == 0;
  });
  EXPECT_EQ(job.status.failed, 0);
  EXPECT_FALSE(job.status.startTime.has_value());
}

// The cache of Jobs receives no changes after its first list until Resume().
class LateJobCacheTest : public JobTest {
 protected:
  using Verb = Operation::Verb;

  void StartLate() {
    late.emplace(client());
    Start({AddJobController});
    const Status synced = manager->cache().WaitForSync(*ctx);
    ASSERT_TRUE(synced.ok()) << synced.ToString();
    late->Hold<Job>();
  }
  // A Pod with the finalizer and the labels of the Job "pi", as another instance of the controller
  // creates it.
  Pod CreateTracked(const std::string& name, const Job& job, bool orphan = false) {
    Pod pod;
    pod.metadata = {.name = name, .namespace_ = "default"};
    pod.metadata.labels = {{std::string(kJobNameLabel), "pi"},
                           {"batch.kubernetes.io/controller-uid", job.metadata.uid}};
    pod.metadata.finalizers = {std::string(kTrackingFinalizer)};
    if (!orphan) pod.metadata.ownerReferences = {ControllerRef(Job::kKind, job.metadata)};
    pod.spec = MakeJob(1, 1).spec.template_.spec;
    return Create(pod);
  }
  // Waits until the controller has read a Job or changed a Pod this many times, and expects that
  // it has only read.
  void AwaitReads(size_t count) {
    const Status read = late->Await(*ctx, [&] {
      return late->Count<Job>(Verb::kGet) >= count || late->Count<Pod>(Verb::kPatch) > 0;
    });
    EXPECT_TRUE(read.ok()) << read.ToString();
    EXPECT_EQ(late->Count<Pod>(Verb::kPatch), 0U);
  }
  void AwaitUntracked(const std::string& name) {
    const auto pod = WaitFor<Pod>(*ctx, client(), {"default", name},
                                  [](const Pod& now) { return !IsTracked(now); });
    EXPECT_TRUE(pod.ok()) << pod.status().ToString();
  }
  bool IsTrackedNow(const std::string& name) {
    const auto pod = client().Get<Pod>(*ctx, {"default", name});
    EXPECT_TRUE(pod.ok()) << pod.status().ToString();
    return pod.ok() && IsTracked(*pod);
  }
};

TEST_F(LateJobCacheTest, PodsOfAnExistingJobKeepTheirFinalizers) {
  StartLate();
  const Job job = Create(MakeJob(2, 2));
  End(CreateTracked("owned", job), "Succeeded");
  AwaitReads(1);
  const size_t reads = late->Count<Job>(Verb::kGet);
  End(CreateTracked("orphan", job, true), "Succeeded");
  AwaitReads(reads + 1);
  ASSERT_TRUE(IsTrackedNow("owned"));
  ASSERT_TRUE(IsTrackedNow("orphan"));
  late->Resume();
  // A Pod that lost its finalizer would not be counted.
  const Job done = AwaitJob([](const Job& now) { return ReasonOf(now, "Complete") != ""; });
  EXPECT_EQ(done.status.succeeded, 2);
  EXPECT_THAT(Pods(), SizeIs(2));
  ExpectReleased();
}

TEST_F(LateJobCacheTest, PodsOfARecreatedJobKeepTheirFinalizersWhileTheCacheHasTheOldJob) {
  Job suspended = MakeJob(1, 1);
  suspended.spec.suspend = true;
  const Job old = Create(suspended);
  StartLate();
  ASSERT_TRUE(
      client().Delete<Job>(*ctx, KeyOf(old), {.propagation = Propagation::kBackground}).ok());
  const Job job = Create(MakeJob(1, 1));
  ASSERT_NE(job.metadata.uid, old.metadata.uid);
  End(CreateTracked("new", job), "Succeeded");
  AwaitReads(1);
  ASSERT_TRUE(IsTrackedNow("new"));
  late->Resume();
  const Job done = AwaitJob([](const Job& now) { return ReasonOf(now, "Complete") != ""; });
  EXPECT_EQ(done.status.succeeded, 1);
  EXPECT_THAT(Pods(), SizeIs(1));
}

TEST_F(LateJobCacheTest, PodsOfADeletedJobAreReleasedAfterALiveRead) {
  StartLate();
  Job gone = MakeJob(1, 1);
  gone.metadata.uid = "gone";
  CreateTracked("owned", gone);
  CreateTracked("orphan", gone, true);
  AwaitUntracked("owned");
  AwaitUntracked("orphan");
  EXPECT_GE(late->Count<Job>(Verb::kGet), 1U);
}

TEST_F(LateJobCacheTest, PodsOfAJobThatWasRecreatedWithAnotherUidAreReleased) {
  StartLate();
  Job old = MakeJob(1, 1);
  old.metadata.uid = "old";
  const Job job = Create(MakeJob(1, 1));
  CreateTracked("new", job);
  AwaitReads(1);
  CreateTracked("old", old);
  AwaitUntracked("old");
  ASSERT_TRUE(IsTrackedNow("new"));
}

TEST_F(LateJobCacheTest, FailedLiveReadReleasesNothingAndIsRetried) {
  StartLate();
  std::atomic<bool> failing = true;
  std::atomic<bool> released_while_failing = false;
  late->FailWith([&](const Operation& operation) -> Status {
    if (!failing) return {};
    if (operation.verb == Verb::kPatch) released_while_failing = true;
    if (operation.verb == Verb::kGet) return Status::Internal("etcdserver: request timed out");
    return {};
  });
  Job gone = MakeJob(1, 1);
  gone.metadata.uid = "gone";
  CreateTracked("owned", gone);
  CreateTracked("orphan", gone, true);
  AwaitReads(4);
  ASSERT_TRUE(IsTrackedNow("owned"));
  ASSERT_TRUE(IsTrackedNow("orphan"));
  EXPECT_FALSE(released_while_failing);
  failing = false;
  AwaitUntracked("owned");
  AwaitUntracked("orphan");
}

class JobTimeTest : public JobTest {
 protected:
  void SetUp() override {
    ControllerTest::SetUp();
    clock.emplace();
  }
};

TEST_F(JobTimeTest, FailedPodsAreReplacedAfterBackoffUntilLimit) {
  Job wanted = MakeJob(1, 1);
  wanted.spec.backoffLimit = 1;
  Create(wanted);
  Start({AddJobController});
  End(AwaitActive(1).at(0), "Failed");
  AwaitJob([](const Job& now) { return now.status.failed == 1; });
  clock->Advance(seconds(9));
  EXPECT_THAT(ActivePods(), IsEmpty());
  // The controller may not have started its timer yet, so the clock is advanced repeatedly.
  while (ActivePods().empty() && !ctx->Done()) {
    clock->Advance(seconds(1));
    std::this_thread::yield();
  }
  End(AwaitActive(1).at(0), "Failed");
  const Job job = AwaitJob([](const Job& now) { return ReasonOf(now, "Failed") != ""; });
  EXPECT_EQ(ReasonOf(job, "Failed"), "BackoffLimitExceeded");
  EXPECT_EQ(ReasonOf(job, "FailureTarget"), "BackoffLimitExceeded");
  EXPECT_EQ(job.status.failed, 2);
  EXPECT_FALSE(job.status.completionTime.has_value());
}

TEST_F(JobTimeTest, ActiveDeadlineUsesTimer) {
  Job wanted = MakeJob(1, 1);
  wanted.spec.activeDeadlineSeconds = 30;
  Create(wanted);
  Start({AddJobController});
  AwaitActive(1);
  AwaitJob([](const Job& now) { return now.status.active == 1; });
  const auto job = Eventually<Job>({"default", "pi"}, [](const Job* now) {
    return now != nullptr && ReasonOf(*now, "Failed") != "";
  });
  ASSERT_TRUE(job.ok()) << job.status().ToString();
  EXPECT_EQ(ReasonOf(*job, "Failed"), "DeadlineExceeded");
  EXPECT_EQ(job->status.failed, 1);
}

}  // namespace
}  // namespace cox::controllers
