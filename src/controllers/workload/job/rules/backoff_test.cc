// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/rules/backoff.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "controllers/testing/test_job.h"

namespace cox::controllers {
namespace {

using std::chrono::seconds;

TEST(Backoff, DoublesUpToTenMinutes) {
  const int delays[] = {0, 10, 20, 40, 80, 160, 320, 600, 600, 600};
  int32_t failures = 0;
  for (const int delay : delays) {
    EXPECT_EQ(FailureDelay(failures), seconds(delay)) << failures;
    ++failures;
  }
  for (; failures <= 100; ++failures) EXPECT_EQ(FailureDelay(failures), seconds(600)) << failures;
  EXPECT_EQ(FailureDelay(1'000'000), seconds(600));
  EXPECT_EQ(FailureDelay(std::numeric_limits<int32_t>::max()), seconds(600));
  EXPECT_EQ(FailureDelay(-1), seconds(0));
}

TEST(Backoff, PodsAndIndexesUseTheWholeSeriesOfDelays) {
  const int delays[] = {10, 20, 40, 80, 160, 320, 600, 600};
  List<core::v1::Pod> pods;
  int32_t earlier = 0;
  for (const int delay : delays) {
    pods.push_back(TestPod("p" + std::to_string(earlier), "Failed", 3));
    EXPECT_EQ(BackoffLeft(TestJob(), Share(pods), kNow), seconds(delay - 3)) << earlier;
    EXPECT_EQ(IndexBackoffLeft(IndexedPod("a", "Failed", 0, earlier, 3), kNow), seconds(delay - 3))
        << earlier;
    ++earlier;
  }
}

TEST(Backoff, CountsFailuresSinceLastSuccess) {
  const auto left = [](List<core::v1::Pod> pods) {
    return BackoffLeft(TestJob(), Share(std::move(pods)), kNow);
  };
  EXPECT_EQ(left({}), seconds(0));
  EXPECT_EQ(left({TestPod("a", "Failed", 4)}), seconds(6));
  EXPECT_EQ(left({TestPod("a", "Failed", 11)}), seconds(0));
  EXPECT_EQ(left({TestPod("a", "Failed", 25), TestPod("b", "Failed", 5)}), seconds(15));
  EXPECT_EQ(
      left({TestPod("a", "Failed", 25), TestPod("s", "Succeeded", 20), TestPod("b", "Failed", 5)}),
      seconds(5));
  EXPECT_EQ(left({TestPod("a", "Failed", 5), TestPod("s", "Succeeded", 2)}), seconds(0));
}

TEST(Backoff, PodsDeletedByControllerAreNotFailures) {
  core::v1::Pod pod = TestPod("a", "Running");
  pod.metadata.deletionTimestamp = kNow;
  EXPECT_EQ(BackoffLeft(TestJob(), Share({pod}), kNow), seconds(10));
  pod.metadata.finalizers.clear();
  EXPECT_EQ(BackoffLeft(TestJob(), Share({pod}), kNow), seconds(0));
}

TEST(Backoff, IgnoredFailuresCauseBackoffToo) {
  batch::v1::Job job = TestJob();
  batch::v1::PodFailurePolicyRule rule;
  rule.action = "Ignore";
  rule.onExitCodes = batch::v1::PodFailurePolicyOnExitCodesRequirement{
      .containerName = std::nullopt, .operator_ = "In", .values = {1}};
  job.spec.podFailurePolicy.ensure().rules = {rule};
  EXPECT_EQ(BackoffLeft(job, Share({TestPod("a", "Failed", 4)}), kNow), seconds(6));
}

TEST(Backoff, IndexBackoffUsesFailureCountOfIndex) {
  EXPECT_EQ(IndexBackoffLeft(IndexedPod("a", "Failed", 0, 0, 3), kNow), seconds(7));
  EXPECT_EQ(IndexBackoffLeft(IndexedPod("a", "Failed", 0, 2, 3), kNow), seconds(37));
}

}  // namespace
}  // namespace cox::controllers
