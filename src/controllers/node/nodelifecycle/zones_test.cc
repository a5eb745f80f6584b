// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodelifecycle/zones.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/test_clock.h"

namespace cox::controllers {
namespace {

using std::chrono::seconds;

TEST(Zones, StatesFollowRatioOfNodesNotReady) {
  const NodeLifecycleOptions options;
  EXPECT_EQ(StateOf(0, 0, options), ZoneState::kNormal);
  EXPECT_EQ(StateOf(0, 1, options), ZoneState::kFullDisruption);
  // Up to two failed nodes are no disruption.
  EXPECT_EQ(StateOf(1, 2, options), ZoneState::kNormal);
  EXPECT_EQ(StateOf(2, 3, options), ZoneState::kPartialDisruption);
  EXPECT_EQ(StateOf(5, 5, options), ZoneState::kNormal);
  EXPECT_EQ(StateOf(9, 11, options), ZoneState::kPartialDisruption);  // 55 %
}

TEST(Zones, EvictionRatesByState) {
  const NodeLifecycleOptions options;
  EXPECT_EQ(EvictionRate(ZoneState::kNormal, 10, false, options), 0.1);
  EXPECT_EQ(EvictionRate(ZoneState::kFullDisruption, 10, false, options), 0.1);
  EXPECT_EQ(EvictionRate(ZoneState::kFullDisruption, 10, true, options), 0);
  EXPECT_EQ(EvictionRate(ZoneState::kPartialDisruption, 50, false, options), 0);
  EXPECT_EQ(EvictionRate(ZoneState::kPartialDisruption, 51, false, options), 0.01);
}

TEST(Zones, KeyHasUpstreamFormat) {
  core::v1::Node node;
  EXPECT_EQ(ZoneKeyOf(node), "");
  node.metadata.labels["topology.kubernetes.io/zone"] = "z1";
  EXPECT_EQ(ZoneKeyOf(node), std::string(":\0:z1", 5));
  node.metadata.labels["topology.kubernetes.io/region"] = "r1";
  EXPECT_EQ(ZoneKeyOf(node), std::string("r1:\0:z1", 7));
}

TEST(Zones, PermitsAreTenSecondsApartPerZone) {
  TestClock clock;
  Zones zones(clock, {});
  for (int i = 0; i < 6; ++i) zones.Note("a" + std::to_string(i), "a", true);
  zones.Note("b0", "b", true);
  zones.Note("a0", "a", false);
  zones.Note("a1", "a", false);
  EXPECT_EQ(zones.TakeTurn("a"), seconds(0));
  clock.Advance(seconds(3));
  EXPECT_EQ(zones.TakeTurn("a"), seconds(7));
  EXPECT_EQ(zones.TakeTurn("b"), seconds(0));
  clock.Advance(seconds(7));
  EXPECT_EQ(zones.TakeTurn("a"), seconds(0));
  EXPECT_THAT(zones.NotReady(), testing::UnorderedElementsAre("a0", "a1"));
}

TEST(Zones, NoEvictionsWhileAllZonesAreDown) {
  TestClock clock;
  Zones zones(clock, {});
  EXPECT_FALSE(zones.AllDown());
  zones.Note("n1", "a", true);
  EXPECT_FALSE(zones.Note("n2", "b", true).state);
  EXPECT_TRUE(zones.Note("n1", "a", false).state);
  EXPECT_FALSE(zones.AllDown());
  EXPECT_EQ(zones.TakeTurn("a"), seconds(0));
  EXPECT_TRUE(zones.Note("n2", "b", false).state);
  EXPECT_TRUE(zones.AllDown());
  EXPECT_EQ(zones.TakeTurn("b"), std::nullopt);
  EXPECT_FALSE(zones.Note("n2", "b", false).state);
  const Zones::Change back = zones.Note("n1", "a", true);
  EXPECT_TRUE(back.state);
  EXPECT_TRUE(back.came_back);
  zones.Forget("n1");
  EXPECT_TRUE(zones.AllDown());  // only the zone that is down remains
}

}  // namespace
}  // namespace cox::controllers
