// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/pod_state.h"

#include <gtest/gtest.h>

#include "base/testing/test_clock.h"

namespace cox::controllers::pods {
namespace {

using core::v1::Pod;
using std::chrono::seconds;

const Time kNow = Time::FromUnix(1'000'000, 500'000'000);

Pod ReadyFor(int64_t whole_seconds) {
  Pod pod;
  pod.status.phase = "Running";
  pod.status.conditions = {{.type = "Ready",
                            .status = "True",
                            .lastTransitionTime = Time::FromUnix(1'000'000 - whole_seconds)}};
  return pod;
}

TEST(PodStateTest, ActiveIsNeitherTerminalNorDeleting) {
  const struct {
    const char* phase;
    bool deleting, finished, active, terminating;
  } kCases[] = {{"", false, false, true, false},        {"Pending", false, false, true, false},
                {"Running", false, false, true, false}, {"Unknown", false, false, true, false},
                {"Running", true, false, false, true},  {"Succeeded", false, true, false, false},
                {"Failed", false, true, false, false},  {"Failed", true, true, false, false}};
  for (const auto& c : kCases) {
    Pod pod;
    pod.status.phase = c.phase;
    if (c.deleting) pod.metadata.deletionTimestamp = kNow;
    EXPECT_EQ(IsTerminal(pod), c.finished) << c.phase;
    EXPECT_EQ(IsActive(pod), c.active) << c.phase;
    EXPECT_EQ(IsTerminating(pod), c.terminating) << c.phase;
  }
}

TEST(PodStateTest, AvailableIsReadyForMinReadySeconds) {
  EXPECT_FALSE(IsAvailable(Pod(), 0, kNow));
  EXPECT_TRUE(IsAvailable(ReadyFor(0), 0, kNow));
  EXPECT_FALSE(IsAvailable(ReadyFor(9), 10, kNow));
  EXPECT_TRUE(IsAvailable(ReadyFor(10), 10, kNow));
  Pod unready = ReadyFor(100);
  unready.status.conditions[0].status = "False";
  EXPECT_FALSE(IsReady(unready));
  EXPECT_FALSE(IsAvailable(unready, 10, kNow));
  Pod without_time = ReadyFor(0);
  without_time.status.conditions[0].lastTransitionTime = {};
  EXPECT_TRUE(IsAvailable(without_time, 0, kNow));
  EXPECT_FALSE(IsAvailable(without_time, 1, kNow));
  EXPECT_FALSE(AvailableIn(without_time, 1, kNow));
}

TEST(PodStateTest, NextAvailableInIsExact) {
  EXPECT_EQ(AvailableIn(ReadyFor(7), 10, kNow), std::chrono::milliseconds(2500));
  EXPECT_EQ(AvailableIn(ReadyFor(10), 10, kNow), std::nullopt);
  EXPECT_EQ(AvailableIn(Pod(), 10, kNow), std::nullopt);
  std::vector<PodPtr> pods;
  EXPECT_EQ(NextAvailableIn(pods, 10, kNow), std::nullopt);
  for (const int ready_for : {2, 8, 20}) {
    pods.push_back(std::make_shared<const Pod>(ReadyFor(ready_for)));
  }
  EXPECT_EQ(NextAvailableIn(pods, 10, kNow), std::chrono::milliseconds(1500));
  EXPECT_EQ(NextAvailableIn(pods, 0, kNow), std::nullopt);
}

TEST(PodStateTest, PreciseNowHasFractionalSeconds) {
  TestClock clock;
  const Time before = PreciseNow(clock);
  clock.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ((PreciseNow(clock) - before).nanos, 1'000'000);
}

}  // namespace
}  // namespace cox::controllers::pods
