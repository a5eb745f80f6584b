// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/deletion_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace cox::controllers::pods {
namespace {

using core::v1::Pod;
using testing::ElementsAre;

const Time kNow = Time::FromUnix(1'000'000);

// Assigned and running, ready for 100 s, created 200 s ago.
Pod Good(std::string name) {
  Pod pod;
  pod.metadata.name = name;
  pod.metadata.uid = std::move(name);
  pod.metadata.creationTimestamp = kNow + Duration::Seconds(-200);
  pod.spec.nodeName = "n1";
  pod.status.phase = "Running";
  pod.status.conditions = {
      {.type = "Ready", .status = "True", .lastTransitionTime = kNow + Duration::Seconds(-100)}};
  return pod;
}

std::vector<std::string> Chosen(const List<Pod>& pods, size_t count) {
  std::vector<PodPtr> all;
  for (const Pod& pod : pods) all.push_back(std::make_shared<const Pod>(pod));
  std::vector<std::string> names;
  for (const PodPtr& pod : PodsToDelete(all, all, count, kNow)) names.push_back(pod->metadata.name);
  return names;
}

// Each entry is worse than a good Pod by one rule; the entries are in the order of the rules.
TEST(DeletionOrderTest, TheFirstDifferenceDecides) {
  const std::vector<std::pair<std::string, std::function<void(Pod&)>>> kWorse = {
      {"unassigned", [](Pod& pod) { pod.spec.nodeName = ""; }},
      {"pending", [](Pod& pod) { pod.status.phase = "Pending"; }},
      {"unknown", [](Pod& pod) { pod.status.phase = "Unknown"; }},
      {"unready", [](Pod& pod) { pod.status.conditions[0].status = "False"; }},
      {"cheap", [](Pod& pod) { pod.metadata.annotations[kDeletionCost] = "-5"; }},
      {"doubled", [](Pod& pod) { pod.spec.nodeName = "crowded"; }},
      {"fresh",
       [](Pod& pod) {
         pod.status.conditions[0].lastTransitionTime = kNow + Duration::Seconds(-10);
       }},
      {"restarted", [](Pod& pod) { pod.status.containerStatuses = {{.restartCount = 3}}; }},
      {"sidecar",
       [](Pod& pod) {
         pod.spec.initContainers = {{.name = "s", .restartPolicy = "Always"}};
         pod.status.initContainerStatuses = {{.name = "s", .restartCount = 3}};
       }},
      {"young", [](Pod& pod) { pod.metadata.creationTimestamp = kNow + Duration::Seconds(-100); }},
      {"good", [](Pod&) {}},
  };
  for (size_t worse = 0; worse + 1 < kWorse.size(); ++worse) {
    for (size_t better = worse + 1; better < kWorse.size(); ++better) {
      List<Pod> pods = {Good(kWorse[better].first), Good(kWorse[worse].first)};
      kWorse[better].second(pods[0]);
      kWorse[worse].second(pods[1]);
      // Another Pod on the crowded node, with a high deletion cost.
      Pod company = Good("zz-company");
      company.spec.nodeName = "crowded";
      company.metadata.annotations[kDeletionCost] = "100";
      pods.push_back(company);
      EXPECT_THAT(Chosen(pods, 1), ElementsAre(kWorse[worse].first))
          << "rather than " << kWorse[better].first;
    }
  }
}

TEST(DeletionOrderTest, SimilarAgesAreEqual) {
  Pod a = Good("a");
  Pod b = Good("b");
  b.status.conditions[0].lastTransitionTime = kNow + Duration::Seconds(-99);
  EXPECT_THAT(Chosen({b, a}, 1), ElementsAre("a"));
}

TEST(DeletionOrderTest, InvalidCostCountsAsZero) {
  Pod bad = Good("bad");
  bad.metadata.annotations[kDeletionCost] = "-7x";
  Pod cheap = Good("cheap");
  cheap.metadata.annotations[kDeletionCost] = "-1";
  EXPECT_THAT(Chosen({bad, cheap}, 1), ElementsAre("cheap"));
}

TEST(DeletionOrderTest, ReturnsAtMostCount) {
  EXPECT_EQ(Chosen({Good("a"), Good("b")}, 2).size(), 2);
  EXPECT_EQ(Chosen({Good("a"), Good("b")}, 5).size(), 2);
  EXPECT_THAT(Chosen({Good("a"), Good("b")}, 0), ElementsAre());
}

}  // namespace
}  // namespace cox::controllers::pods
