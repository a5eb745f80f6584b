// SPDX-License-Identifier: Apache-2.0
#include "object/scalar/big_uint.h"

#include <gtest/gtest.h>

#include <limits>

namespace cox {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(BigUint, RoundTripsWithoutLeadingZeros) {
  for (std::string_view digits : {"1", "999999999", "1000000000", "1000000001",
                                  "18446744073709551615", "123456789012345678901234567890"}) {
    EXPECT_EQ(BigUint(digits).ToString(), digits);
    EXPECT_EQ(BigUint("000000000000" + std::string(digits)), BigUint(digits));
    EXPECT_EQ(BigUint(digits).DigitCount(), digits.size());
  }
  EXPECT_TRUE(BigUint("000").IsZero());
  EXPECT_TRUE(BigUint("").IsZero());
  EXPECT_EQ(BigUint().ToString(), "");
  EXPECT_EQ(BigUint().DigitCount(), 0u);
}

TEST(BigUint, AsUint64ReturnsNulloptIfTooLarge) {
  EXPECT_EQ(BigUint(kMax).AsUint64(), kMax);
  EXPECT_EQ(BigUint("18446744073709551615").AsUint64(), kMax);
  EXPECT_EQ(BigUint("18446744073709551616").AsUint64(), std::nullopt);
  EXPECT_EQ(BigUint("99999999999999999999999999999").AsUint64(), std::nullopt);
  EXPECT_EQ(BigUint().AsUint64(), 0u);
}

TEST(BigUint, CarriesAndBorrows) {
  BigUint n("999999999999999999");
  n.Add(BigUint(uint64_t{1}));
  EXPECT_EQ(n.ToString(), "1000000000000000000");
  n.Sub(BigUint(uint64_t{1}));
  EXPECT_EQ(n.ToString(), "999999999999999999");
  n.Sub(BigUint("999999999999999999"));
  EXPECT_TRUE(n.IsZero());
  n.Add(n);
  EXPECT_TRUE(n.IsZero());
}

TEST(BigUint, ScalesByPowersOfTen) {
  BigUint n("123");
  n.MulPow10(20);
  EXPECT_EQ(n.ToString(), "12300000000000000000000");
  n.CeilDivPow10(20);
  EXPECT_EQ(n.ToString(), "123");
  n.CeilDivPow10(1);
  EXPECT_EQ(n.ToString(), "13");
  n.CeilDivPow10(1000);
  EXPECT_EQ(n.ToString(), "1");
  BigUint zero;
  zero.MulPow10(1'000'000'000);
  zero.CeilDivPow10(1'000'000'000);
  EXPECT_TRUE(zero.IsZero());
}

TEST(BigUint, MultipliesAndDividesBySmallNumbers) {
  BigUint n("18446744073709551615");
  n.MulSmall(4294967295);
  EXPECT_EQ(n.ToString(), "79228162495817593515539431425");
  EXPECT_EQ(n.DivSmall(4294967295), 0u);
  EXPECT_EQ(n.ToString(), "18446744073709551615");
  EXPECT_EQ(n.DivSmall(1024), 1023u);
  n.MulSmall(0);
  EXPECT_TRUE(n.IsZero());
}

TEST(BigUint, Compares) {
  EXPECT_LT(BigUint("999999999"), BigUint("1000000000"));
  EXPECT_LT(BigUint("1000000000000000001"), BigUint("2000000000000000000"));
  EXPECT_GT(BigUint("2000000000000000001"), BigUint("2000000000000000000"));
}

}  // namespace
}  // namespace cox
