// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/pod_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "controllers/shared/pods/pod_state.h"

namespace cox::controllers::pods {
namespace {

using core::v1::Pod;
using testing::ElementsAre;

constexpr int64_t kStart = 1'000'000;
const Map<std::string> kTemplate = {{"app", "web"}, {"tier", "front"}};

PodCounts WebCounts() { return {*labels::Selector::Parse("app=web"), kTemplate}; }

// `ready_since` in seconds after kStart; negative: not ready.
PodPtr TestPod(const std::string& name, int ready_since, Map<std::string> labels = kTemplate) {
  Pod pod;
  pod.metadata.name = name;
  pod.metadata.labels = std::move(labels);
  pod.status.phase = core::v1::kPodRunning;
  if (ready_since >= 0) {
    pod.status.conditions = {{.type = core::v1::kPodReady,
                              .status = core::v1::kConditionTrue,
                              .lastTransitionTime = Time::FromUnix(kStart + ready_since)}};
  }
  return std::make_shared<const Pod>(std::move(pod));
}

TEST(PodCounts, CountsPodsByState) {
  PodCounts counts = WebCounts();
  for (const PodPtr& pod : {TestPod("a", 0), TestPod("b", 57), TestPod("c", -1),
                            TestPod("d", 50, {{"app", "web"}}), TestPod("e", 0, {{"app", "x"}})}) {
    counts.Add(*pod);
  }
  Pod other = *TestPod("f", 0);
  other.metadata.deletionTimestamp = Time::FromUnix(kStart);
  counts.Add(other);
  other.status.phase = core::v1::kPodFailed;
  counts.Add(other);
  EXPECT_EQ(counts.active(), 5);
  EXPECT_EQ(counts.terminating(), 1);
  EXPECT_EQ(counts.ready(), 4);
  EXPECT_EQ(counts.labeled(), 3);
  EXPECT_THAT(counts.unselected(), ElementsAre("e"));
  const Time now = Time::FromUnix(kStart + 60);
  EXPECT_EQ(counts.Available(0, now), 4);
  EXPECT_EQ(counts.Available(10, now), 3);
  EXPECT_EQ(counts.NextAvailableIn(10, now), std::chrono::seconds(7));
  EXPECT_EQ(counts.NextAvailableIn(0, now), std::nullopt);
  EXPECT_EQ(counts.Available(60, now), 2);
  EXPECT_EQ(counts.NextAvailableIn(60, now), std::chrono::seconds(50));
}

TEST(PodCounts, PodWithoutTransitionTimeIsNeverAvailableAfterADelay) {
  PodCounts counts = WebCounts();
  Pod pod = *TestPod("a", 0);
  pod.status.conditions[0].lastTransitionTime = {};
  counts.Add(pod);
  EXPECT_EQ(counts.ready(), 1);
  EXPECT_EQ(counts.Available(0, Time::FromUnix(kStart)), 1);
  EXPECT_EQ(counts.Available(1, Time::FromUnix(kStart)), 0);
  EXPECT_EQ(counts.NextAvailableIn(1, Time::FromUnix(kStart)), std::nullopt);
}

// Changes Pods at random and compares the counts with those of all Pods.
class RandomPods {
 public:
  explicit RandomPods(unsigned seed) : random_(seed) {}

  // Replaces, adds or removes a Pod.
  void Change(PodCounts& counts) {
    const size_t at = random_() % 40;
    if (at >= pods_.size()) {
      pods_.push_back(Draw());
      counts.Add(*pods_.back());
      return;
    }
    counts.Remove(*pods_[at]);
    if (random_() % 4 == 0) {
      pods_.erase(pods_.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    }
    const std::string name = pods_[at]->metadata.name;
    Pod pod = *Draw();
    pod.metadata.name = name;
    pods_[at] = std::make_shared<const Pod>(std::move(pod));
    counts.Add(*pods_[at]);
  }
  void Compare(const PodCounts& counts) {
    std::vector<PodPtr> active;
    size_t terminating = 0;
    size_t ready = 0;
    size_t labeled = 0;
    std::set<std::string> unselected;
    for (const PodPtr& pod : pods_) {
      if (IsTerminating(*pod)) ++terminating;
      if (!IsActive(*pod)) continue;
      active.push_back(pod);
      if (IsReady(*pod)) ++ready;
      if (pod->metadata.labels == kTemplate) ++labeled;
      if (!pod->metadata.labels.contains("app")) unselected.insert(pod->metadata.name);
    }
    EXPECT_EQ(counts.active(), active.size());
    EXPECT_EQ(counts.terminating(), terminating);
    EXPECT_EQ(counts.ready(), ready);
    EXPECT_EQ(counts.labeled(), labeled);
    EXPECT_EQ(counts.unselected(), unselected);
    const auto seconds = static_cast<int32_t>(random_() % 12);
    const Time now = Time::FromUnix(kStart + static_cast<int64_t>(random_() % 30), 5);
    size_t available = 0;
    for (const PodPtr& pod : active) available += IsAvailable(*pod, seconds, now) ? 1 : 0;
    EXPECT_EQ(counts.Available(seconds, now), available);
    EXPECT_EQ(counts.NextAvailableIn(seconds, now), NextAvailableIn(active, seconds, now));
  }

 private:
  PodPtr Draw() {
    const auto since = static_cast<int>(random_() % 30) - 8;
    const std::string name = "p" + std::to_string(++last_);
    Pod pod =
        *(random_() % 6 == 0 ? TestPod(name, since, {{"tier", "front"}}) : TestPod(name, since));
    if (random_() % 5 == 0) pod.metadata.deletionTimestamp = Time::FromUnix(kStart);
    if (random_() % 5 == 0) pod.status.phase = core::v1::kPodSucceeded;
    return std::make_shared<const Pod>(std::move(pod));
  }

  std::mt19937 random_;
  int last_ = 0;
  std::vector<PodPtr> pods_;
};

TEST(PodCounts, RandomChangesGiveTheCountsOfAllPods) {
  for (unsigned seed = 1; seed <= 50 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomPods pods(seed);
    PodCounts counts = WebCounts();
    for (int step = 0; step < 200 && !HasFailure(); ++step) {
      pods.Change(counts);
      pods.Compare(counts);
    }
  }
}

}  // namespace
}  // namespace cox::controllers::pods
