// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace cox::controllers::deployment {
namespace {

using apps::v1::Deployment;
using apps::v1::ReplicaSet;
using Sizes = std::map<std::string, int32_t>;

Deployment Rolling(int32_t replicas, IntOrString surge, IntOrString unavailable) {
  Deployment deployment;
  deployment.spec.replicas = replicas;
  deployment.spec.strategy.type = "RollingUpdate";
  auto& rolling = deployment.spec.strategy.rollingUpdate.ensure();
  rolling.maxSurge = std::move(surge);
  rolling.maxUnavailable = std::move(unavailable);
  return deployment;
}

// desired, max: the values of its annotations; 0 for none.
SetPtr Set(std::string name, int32_t size, int32_t available, int32_t desired = 0,
           int32_t max = 0) {
  ReplicaSet set;
  set.metadata.name = name;
  set.metadata.uid = std::move(name);
  set.spec.replicas = size;
  set.status.replicas = size;
  set.status.availableReplicas = available;
  if (max != 0) SetReplicasAnnotations(set, desired, max);
  return std::make_shared<const ReplicaSet>(std::move(set));
}

Sizes SizesOf(const std::vector<Resize>& resizes) {
  Sizes sizes;
  for (const Resize& resize : resizes) sizes[resize.set->metadata.name] = resize.to;
  return sizes;
}

TEST(SizesTest, SurgeIsRoundedUpAndUnavailableDown) {
  const struct {
    int32_t replicas;
    IntOrString surge, unavailable;
    int32_t expect_surge, expect_unavailable;
  } kCases[] = {
      {10, "25%", "25%", 3, 2}, {3, "25%", "25%", 1, 0},  {1, "25%", "25%", 1, 0},
      {10, 0, "5%", 0, 1},      {10, 2, 3, 2, 3},         {2, 0, 10, 0, 2},
      {0, "25%", "25%", 0, 0},  {100, "100%", 0, 100, 0}, {4, "1%", "1%", 1, 0},
  };
  for (const auto& c : kCases) {
    const Bounds bounds = BoundsOf(Rolling(c.replicas, c.surge, c.unavailable));
    EXPECT_EQ(bounds.surge, c.expect_surge) << c.replicas << " " << c.surge.ToString();
    EXPECT_EQ(bounds.unavailable, c.expect_unavailable)
        << c.replicas << " " << c.unavailable.ToString();
  }
  Deployment recreate = Rolling(10, 3, 3);
  recreate.spec.strategy = {};
  recreate.spec.strategy.type = "Recreate";
  EXPECT_EQ(BoundsOf(recreate).surge, 0);
  EXPECT_EQ(BoundsOf(recreate).unavailable, 0);
}

TEST(SizesTest, LatestSetGrowsUpToSurge) {
  const Deployment deployment = Rolling(10, 3, 2);
  EXPECT_EQ(LatestSize(deployment, 0, 0), 10);
  EXPECT_EQ(LatestSize(deployment, 0, 10), 3);
  EXPECT_EQ(LatestSize(deployment, 3, 13), 3);
  EXPECT_EQ(LatestSize(deployment, 3, 15), 3);
  EXPECT_EQ(LatestSize(deployment, 3, 11), 5);
  EXPECT_EQ(LatestSize(deployment, 9, 10), 10);
  EXPECT_EQ(LatestSize(deployment, 12, 12), 10);
  Deployment recreate = deployment;
  recreate.spec.strategy.type = "Recreate";
  EXPECT_EQ(LatestSize(recreate, 0, 10), 10);
}

TEST(SizesTest, OldSetsShrinkWhileEnoughPodsAreAvailable) {
  const struct {
    const char* what;
    int32_t surge, unavailable;
    SetPtr latest;
    std::vector<SetPtr> old;
    Sizes expect;
  } kCases[] = {
      {"as many as may be unavailable", 3, 2, Set("n", 3, 0), {Set("a", 10, 10)}, {{"a", 8}}},
      {"no more than that", 3, 2, Set("n", 5, 0), {Set("a", 8, 8)}, {}},
      {"what new ones make up for", 3, 2, Set("n", 5, 4), {Set("a", 8, 8)}, {{"a", 4}}},
      {"all, at the end", 3, 2, Set("n", 10, 10), {Set("a", 3, 3)}, {{"a", 0}}},
      {"the oldest first",
       3,
       2,
       Set("n", 3, 3),
       {Set("a", 2, 2), Set("b", 8, 8)},
       {{"a", 0}, {"b", 5}}},
      {"the unhealthy first", 3, 0, Set("n", 3, 0), {Set("a", 8, 8), Set("b", 2, 0)}, {}},
      {"unhealthy beyond what is needed",
       3,
       2,
       Set("n", 3, 0),
       {Set("a", 8, 8), Set("b", 2, 0)},
       {{"b", 0}}},
      {"sizes count where statuses lag", 3, 2, Set("n", 5, 1), {Set("a", 8, 10)}, {{"a", 7}}},
      {"nothing left", 3, 2, Set("n", 10, 10), {Set("a", 0, 0)}, {}},
  };
  for (const auto& c : kCases) {
    ReplicaSets sets{c.latest, c.old};
    EXPECT_EQ(SizesOf(ShrinkOld(Rolling(10, c.surge, c.unavailable), sets)), c.expect) << c.what;
  }
}

TEST(SizesTest, ScalingIsDetectedByDesiredReplicasAnnotation) {
  const Deployment deployment = Rolling(10, 3, 2);
  EXPECT_FALSE(IsScaling(deployment, {Set("n", 10, 10, 10, 13), {}}));
  EXPECT_TRUE(IsScaling(deployment, {Set("n", 5, 5, 5, 7), {}}));
  EXPECT_TRUE(IsScaling(deployment, {Set("n", 10, 10, 10, 13), {Set("a", 1, 1, 5, 7)}}));
  EXPECT_FALSE(IsScaling(deployment, {Set("n", 10, 10, 10, 13), {Set("a", 0, 0, 5, 7)}}));
  EXPECT_FALSE(IsScaling(deployment, {Set("n", 5, 5), {}}));
}

TEST(SizesTest, ScalingIsProportional) {
  const struct {
    const char* what;
    int32_t replicas;
    SetPtr latest;
    std::vector<SetPtr> old;
    Sizes expect;
  } kCases[] = {
      {"the only one takes all", 20, Set("n", 10, 10, 10, 12), {}, {{"n", 20}}},
      {"also an old one", 20, nullptr, {Set("a", 10, 10, 10, 12), Set("b", 0, 0)}, {{"a", 20}}},
      {"the newest where none is", 4, nullptr, {Set("a", 0, 0), Set("b", 0, 0)}, {{"b", 4}}},
      {"to nothing", 0, Set("n", 10, 10, 10, 12), {}, {{"n", 0}}},
      {"old ones go when it is complete",
       10,
       Set("n", 10, 10, 10, 12),
       {Set("a", 2, 2, 10, 12)},
       {{"a", 0}}},
      // 12 Pods for 10 replicas; for 20 replicas 22 are allowed: (8, 4) grow to (15, 7).
      {"up in proportion",
       20,
       Set("n", 4, 0, 10, 12),
       {Set("a", 8, 8, 10, 12)},
       {{"n", 7}, {"a", 15}}},
      {"down in proportion",
       4,
       Set("n", 4, 0, 10, 12),
       {Set("a", 8, 8, 10, 12)},
       {{"n", 2}, {"a", 4}}},
      {"all to nothing in the midst",
       0,
       Set("n", 4, 0, 10, 12),
       {Set("a", 8, 8, 10, 12)},
       {{"n", 0}, {"a", 0}}},
      {"the rest to the newest of the largest",
       11,
       Set("n", 6, 0, 10, 12),
       {Set("a", 6, 6, 10, 12)},
       {{"n", 7}, {"a", 6}}},
  };
  for (const auto& c : kCases) {
    ReplicaSets sets{c.latest, c.old};
    EXPECT_EQ(SizesOf(ScaleAll(Rolling(c.replicas, 2, 1), sets)), c.expect) << c.what;
  }
}

}  // namespace
}  // namespace cox::controllers::deployment
