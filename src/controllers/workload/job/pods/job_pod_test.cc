// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/pods/job_pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/testing/test_job.h"

namespace cox::controllers {
namespace {

using core::v1::Pod;
using testing::SizeIs;

TEST(JobPod, HasFinalizerAndControllerReference) {
  const Pod pod = MakeJobPod(TestJob(), {});
  EXPECT_TRUE(IsTracked(pod));
  EXPECT_EQ(pod.metadata.generateName, "pi-");
  ASSERT_THAT(pod.metadata.ownerReferences, SizeIs(1));
  EXPECT_EQ(pod.metadata.ownerReferences[0].uid, "job");
  EXPECT_EQ(CompletionIndexOf(pod), -1);
}

TEST(JobPod, IndexIsInNameLabelsHostnameAndEnvironment) {
  batch::v1::Job job = IndexedJob(5);
  core::v1::Container main;
  main.name = "main";
  core::v1::Container own = main;
  own.env = {{.name = "JOB_COMPLETION_INDEX", .value = "mine"}};
  job.spec.template_.spec.containers = {main, own};
  job.spec.template_.spec.initContainers = {main};
  job.spec.template_.spec.hostname = "all-the-same";
  const Pod pod = MakeJobPod(job, {.index = 3, .failures = 2});
  EXPECT_EQ(pod.metadata.generateName, "pi-3-");
  EXPECT_EQ(pod.spec.hostname, "pi-3");
  EXPECT_EQ(CompletionIndexOf(pod), 3);
  EXPECT_EQ(*pod.metadata.labels.Get(kCompletionIndex), "3");
  EXPECT_FALSE(pod.metadata.annotations.contains(kIndexFailures));
  ASSERT_THAT(pod.spec.containers[0].env, SizeIs(1));
  EXPECT_EQ(pod.spec.containers[0].env[0].valueFrom->fieldRef->fieldPath,
            "metadata.labels['batch.kubernetes.io/job-completion-index']");
  EXPECT_THAT(pod.spec.initContainers[0].env, SizeIs(1));
  ASSERT_THAT(pod.spec.containers[1].env, SizeIs(1));
  EXPECT_EQ(pod.spec.containers[1].env[0].value, "mine");
}

TEST(JobPod, IndexFailuresAreStoredInAnnotations) {
  batch::v1::Job job = IndexedJob(5);
  job.spec.backoffLimitPerIndex = 3;
  const Pod pod = MakeJobPod(job, {.index = 0, .failures = 2, .ignored_failures = 1});
  EXPECT_EQ(IndexFailuresOf(pod), 2);
  EXPECT_EQ(IndexIgnoredFailuresOf(pod), 1);
}

TEST(JobPod, DeletedPodHasFailedUnlessPolicyIsFailed) {
  batch::v1::Job job = TestJob();
  Pod pod = TestPod("a", "Running");
  EXPECT_FALSE(HasFailed(pod, job));
  pod.metadata.deletionTimestamp = kNow;
  EXPECT_TRUE(HasFailed(pod, job));
  job.spec.podReplacementPolicy = "Failed";
  EXPECT_FALSE(HasFailed(pod, job));
  pod.status.phase = "Failed";
  EXPECT_TRUE(HasFailed(pod, job));
}

}  // namespace
}  // namespace cox::controllers
