// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodeipam/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::controllers {
namespace {

using testing::ElementsAre;
using testing::Optional;

std::unique_ptr<Ranges> Make(std::vector<std::string> cidrs, std::vector<std::string> services = {},
                             int mask = 0) {
  NodeIpamOptions options;
  options.cluster_cidrs = std::move(cidrs);
  options.service_cidrs = std::move(services);
  options.mask_size_ipv4 = mask;
  auto made = Ranges::Create(options);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? *std::move(made) : nullptr;
}

TEST(RangesTest, NodeKeepsOneSubnetPerFamily) {
  const auto ranges = Make({"10.244.0.0/16", "fd00::/48"});
  EXPECT_THAT(ranges->Reserve("a"), Optional(ElementsAre("10.244.0.0/24", "fd00::/64")));
  EXPECT_THAT(ranges->Reserve("b"), Optional(ElementsAre("10.244.1.0/24", "fd00:0:0:1::/64")));
  EXPECT_THAT(ranges->Reserve("a"), Optional(ElementsAre("10.244.0.0/24", "fd00::/64")));
}

TEST(RangesTest, SubnetsOfOtherNodesAreNotReserved) {
  const auto ranges = Make({"10.244.0.0/16"}, {"10.244.1.0/24"});
  ranges->Note("a", {"10.244.0.0/24"});
  EXPECT_THAT(ranges->Reserve("b"), Optional(ElementsAre("10.244.2.0/24")));
  // Another writer has set the podCIDRs of b: its reservation is released.
  ranges->Note("b", {"10.244.9.0/24"});
  EXPECT_EQ(ranges->usage()[0].used, 3U);
  ranges->Forget("a");
  EXPECT_EQ(ranges->usage()[0].used, 2U);
}

TEST(RangesTest, ExhaustedRangeReleasesPartialReservation) {
  const auto ranges = Make({"fd00::/48", "10.0.0.0/25"}, {}, 25);
  ASSERT_TRUE(ranges->Reserve("a").has_value());
  EXPECT_EQ(ranges->Reserve("b"), std::nullopt);
  EXPECT_EQ(ranges->usage()[0].used, 1U);
  ranges->Forget("a");
  EXPECT_THAT(ranges->Reserve("b"), Optional(ElementsAre("fd00:0:0:2::/64", "10.0.0.0/25")));
}

TEST(RangesTest, RejectsInconsistentFlags) {
  NodeIpamOptions options;
  EXPECT_FALSE(Ranges::Create(options).ok());
  options.cluster_cidrs = {"10.0.0.0/16", "10.1.0.0/16"};
  EXPECT_FALSE(Ranges::Create(options).ok());
  options.cluster_cidrs = {"10.0.0.0/16", "fd00::/48", "fd01::/48"};
  EXPECT_FALSE(Ranges::Create(options).ok());
}

}  // namespace
}  // namespace cox::controllers
