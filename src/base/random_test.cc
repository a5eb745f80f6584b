// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace cox {
namespace {

TEST(RandomTest, BelowCoversItsRange) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = RandomBelow(5);
    EXPECT_LT(value, 5u);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(RandomBelow(1), 0u);
}

TEST(RandomTest, FractionsAreInUnitInterval) {
  double least = 1, greatest = 0;
  for (int i = 0; i < 1000; ++i) {
    const double value = RandomFraction();
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 0.1);
  EXPECT_GT(greatest, 0.9);
  EXPECT_LT(greatest, 1);
}

TEST(RandomTest, FillsAllBytes) {
  std::array<uint8_t, 64> seen{};
  for (int i = 0; i < 100; ++i) {
    std::array<uint8_t, 64> bytes{};
    FillRandom(bytes);
    for (size_t at = 0; at < bytes.size(); ++at) seen[at] |= bytes[at];
  }
  for (const uint8_t bits : seen) EXPECT_EQ(bits, 0xff);
}

}  // namespace
}  // namespace cox
