// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodeipam/cidr_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::controllers {
namespace {

std::vector<std::string> Take(CidrSet& set, int count) {
  std::vector<std::string> taken;
  for (int i = 0; i < count; ++i) taken.push_back(set.Allocate().value_or("none"));
  return taken;
}

TEST(CidrSetTest, AllocatesSubnetsInOrder) {
  struct Case {
    const char* range;
    int mask;
    size_t size;
    std::vector<std::string> first;
  };
  const Case cases[] = {
      {"10.244.0.0/16", 24, 256, {"10.244.0.0/24", "10.244.1.0/24", "10.244.2.0/24"}},
      {"10.244.7.9/16", 24, 256, {"10.244.0.0/24", "10.244.1.0/24"}},
      {"127.123.234.0/29", 31, 4, {"127.123.234.0/31", "127.123.234.2/31"}},
      {"10.0.0.0/24", 24, 1, {"10.0.0.0/24", "none"}},
      {"10.0.0.0/8", 24, 65536, {"10.0.0.0/24", "10.0.1.0/24"}},
      {"fd00:10:244::/56", 64, 256, {"fd00:10:244::/64", "fd00:10:244:1::/64"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.range);
    auto set = CidrSet::Create(c.range, c.mask);
    ASSERT_TRUE(set.ok()) << set.status().message();
    EXPECT_EQ(set->size(), c.size);
    EXPECT_EQ(Take(*set, static_cast<int>(c.first.size())), c.first);
  }
}

TEST(CidrSetTest, RejectsInvalidRangesAndMasks) {
  EXPECT_FALSE(CidrSet::Create("nonsense", 24).ok());
  EXPECT_FALSE(CidrSet::Create("10.0.0.0/16", 15).ok());
  EXPECT_FALSE(CidrSet::Create("10.0.0.0/16", 33).ok());
  EXPECT_FALSE(CidrSet::Create("10.0.0.0/8", 25).ok());
  EXPECT_FALSE(CidrSet::Create("fd00::/32", 64).ok());
  EXPECT_TRUE(CidrSet::Create("fd00::/48", 64).ok());
}

TEST(CidrSetTest, OccupiedSubnetsAreNotAllocated) {
  auto set = CidrSet::Create("10.0.0.0/16", 24);
  ASSERT_TRUE(set.ok());
  EXPECT_TRUE(set->Occupy("10.0.0.0/24"));
  EXPECT_TRUE(set->Occupy("10.0.1.128/25"));  // part of one subnet
  EXPECT_TRUE(set->Occupy("10.0.2.0/23"));    // two subnets
  EXPECT_FALSE(set->Occupy("10.1.0.0/24"));
  EXPECT_FALSE(set->Occupy("fd00::/64"));
  EXPECT_EQ(set->used(), 4U);
  EXPECT_EQ(set->Allocate(), "10.0.4.0/24");
  EXPECT_TRUE(set->Occupy("10.0.0.0/8"));  // contains the whole range
  EXPECT_EQ(set->used(), 256U);
  EXPECT_EQ(set->Allocate(), std::nullopt);
}

TEST(CidrSetTest, ReleasedSubnetsAreReusedLast) {
  auto set = CidrSet::Create("10.0.0.0/30", 32);
  ASSERT_TRUE(set.ok());
  EXPECT_THAT(Take(*set, 2), testing::ElementsAre("10.0.0.0/32", "10.0.0.1/32"));
  set->Release("10.0.0.0/32");
  set->Release("10.0.0.0/32");  // releasing twice has no effect
  EXPECT_EQ(set->used(), 1U);
  EXPECT_THAT(Take(*set, 4),
              testing::ElementsAre("10.0.0.2/32", "10.0.0.3/32", "10.0.0.0/32", "none"));
}

}  // namespace
}  // namespace cox::controllers
