// SPDX-License-Identifier: Apache-2.0
#include "object/scalar/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace cox {
namespace {

using F = Quantity::Format;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Quantity Q(std::string_view text) {
  Result<Quantity> q = Quantity::Parse(text);
  EXPECT_TRUE(q.ok()) << text << ": " << q.status().ToString();
  return q.ok() ? *q : Quantity();
}

// Found by fuzzing: no binary suffix fits, so the number is printed without one and parsed as
// decimal.
TEST(Quantity, BinaryNumbersWithoutSuffixAreParsedAsDecimal) {
  Quantity q = *Quantity::Parse("62.5Ki");
  EXPECT_EQ(q.ToString(), "64000");
  EXPECT_EQ(Quantity::Parse(q.ToString())->ToString(), "64k");
}

TEST(Quantity, ToStringIsCanonical) {
  struct Case {
    std::string_view text, canonical;
    F format;
  };
  const Case kCases[] = {
      {"0", "0", F::kDecimalSI},
      {"00", "0", F::kDecimalSI},
      {"0.5", "500m", F::kDecimalSI},
      {"1000m", "1", F::kDecimalSI},
      {"1024Mi", "1Gi", F::kBinarySI},
      {"1.5Gi", "1536Mi", F::kBinarySI},
      {"0.1Gi", "107374182400m", F::kBinarySI},
      {"1e3", "1e3", F::kDecimalExponent},
      {"1E3", "1E3", F::kDecimalExponent},
      {"1000000", "1M", F::kDecimalSI},
      {"+1", "+1", F::kDecimalSI},
      {"01", "01", F::kDecimalSI},
      {"1.0", "1", F::kDecimalSI},
      {"1.50", "1500m", F::kDecimalSI},
      {".5", "500m", F::kDecimalSI},
      {"5.", "5.", F::kDecimalSI},
      {"-0", "0", F::kDecimalSI},
      {"0m", "0", F::kDecimalSI},
      {"0Ki", "0", F::kBinarySI},
      {"12e6", "12e6", F::kDecimalExponent},
      {"1e-9", "1e-9", F::kDecimalExponent},
      {"1e-10", "1e-9", F::kDecimalExponent},
      {"1n", "1n", F::kDecimalSI},
      {"0.1n", "1n", F::kDecimalSI},
      {"-0.1n", "-1n", F::kDecimalSI},
      {"9223372036854775807", "9223372036854775807", F::kDecimalSI},
      {"9223372036854775808", "9223372036854775808", F::kDecimalSI},
      {"9223372036854775807Ki", "9223372036854775807", F::kBinarySI},
      {"10Ei", "9223372036854775807", F::kBinarySI},
      {"7Ei", "7Ei", F::kBinarySI},
      {"8Ei", "9223372036854775807", F::kBinarySI},
      {"-10Ei", "-9223372036854775807", F::kBinarySI},
      {"1e1000", "10e999", F::kDecimalExponent},
      {"100", "100", F::kDecimalSI},
      {"0100", "0100", F::kDecimalSI},
      {"1500", "1500", F::kDecimalSI},
      {"01500", "01500", F::kDecimalSI},
      {"01Ki", "01Ki", F::kBinarySI},
      {"+1Ki", "+1Ki", F::kBinarySI},
      {"+1k", "+1k", F::kDecimalSI},
      {"+1m", "+1m", F::kDecimalSI},
      {"01m", "01m", F::kDecimalSI},
      {"+1.5", "1500m", F::kDecimalSI},
      {"+0.5", "500m", F::kDecimalSI},
      {"+1E4", "10e3", F::kDecimalExponent},
      {"1E6", "1E6", F::kDecimalExponent},
      {"1E4", "10e3", F::kDecimalExponent},
      {"1E-3", "1E-3", F::kDecimalExponent},
      {"1E-6", "1E-6", F::kDecimalExponent},
      {"1E-9", "1E-9", F::kDecimalExponent},
      {"1E0", "1E0", F::kDecimalExponent},
      {"1e0", "1e0", F::kDecimalExponent},
      {"1e00", "1e00", F::kDecimalExponent},
      {"1e03", "1e03", F::kDecimalExponent},
      {"+1e3", "+1e3", F::kDecimalExponent},
      {"1.5E3", "1500", F::kDecimalExponent},
      {"1.E3", "1.E3", F::kDecimalExponent},
      {"+10", "+10", F::kDecimalSI},
      {"+1000", "1k", F::kDecimalSI},
      {"+1024Ki", "1Mi", F::kBinarySI},
      {"+1000m", "1", F::kDecimalSI},
      {"+1500m", "+1500m", F::kDecimalSI},
      {"01Mi", "01Mi", F::kBinarySI},
      {"1.0Ki", "1Ki", F::kBinarySI},
      {"1.Ki", "1.Ki", F::kBinarySI},
      {"+1025", "+1025", F::kDecimalSI},
      {"+1025Ki", "+1025Ki", F::kBinarySI},
      {"+123456789012345678", "+123456789012345678", F::kDecimalSI},
      {"+1234567890123456789", "1234567890123456789", F::kDecimalSI},
      {"0001234567890123456", "0001234567890123456", F::kDecimalSI},
      {"-01", "-01", F::kDecimalSI},
      {"-01Ki", "-01Ki", F::kBinarySI},
      {"+1e-3", "+1e-3", F::kDecimalExponent},
      {"+999", "+999", F::kDecimalSI},
      {"1e3000", "1e3000", F::kDecimalExponent},
      {"1e+03", "1e+03", F::kDecimalExponent},
      {"1Ki", "1Ki", F::kBinarySI},
      {"01n", "01n", F::kDecimalSI},
      {"+1E", "+1E", F::kDecimalSI},
      {"1.E", "1.E", F::kDecimalSI},
      {"5.k", "5.k", F::kDecimalSI},
      {"5.m", "5.m", F::kDecimalSI},
      {"1e+3", "1e+3", F::kDecimalExponent},
      {"1E", "1E", F::kDecimalSI},
      {"-", "0", F::kDecimalSI},
      {"+", "0", F::kDecimalSI},
      {".", "0", F::kDecimalSI},
      {"0.0000000001Ki", "103n", F::kDecimalSI},
      {"0.5Ki", "512", F::kBinarySI},
      {"0.5m", "500u", F::kDecimalSI},
      {"1.5m", "1500u", F::kDecimalSI},
      {"0.0005Ki", "512m", F::kDecimalSI},
      {"1.5n", "2n", F::kDecimalSI},
      {"123456789012345678901234567890", "123456789012345678901234567890", F::kDecimalSI},
      {"123456789.12345678901234567890", "123456789123456790n", F::kDecimalSI},
      {"1000Ki", "1000Ki", F::kBinarySI},
      {"1536Mi", "1536Mi", F::kBinarySI},
      {"999999999999999999999999k", "999999999999999999999999k", F::kDecimalSI},
      {"-1.5", "-1500m", F::kDecimalSI},
      {"-1.5Gi", "-1536Mi", F::kBinarySI},
      {"0.3Ki", "307200m", F::kBinarySI},
      {"1.3", "1300m", F::kDecimalSI},
      {"1.33333333333", "1333333334n", F::kDecimalSI},
      {"1e18", "1e18", F::kDecimalExponent},
      {"1e19", "10e18", F::kDecimalExponent},
      {"5E3", "5E3", F::kDecimalExponent},
      {"0e5", "0", F::kDecimalExponent},
      {"0.000", "0", F::kDecimalSI},
      {"-1", "-1", F::kDecimalSI},
      {"1000e3", "1e6", F::kDecimalExponent},
      {"1500e3", "1500e3", F::kDecimalExponent},
      {"100e3", "100e3", F::kDecimalExponent},
      {"1e4", "10e3", F::kDecimalExponent},
      {"1e5", "100e3", F::kDecimalExponent},
      {"1e-3", "1e-3", F::kDecimalExponent},
      {"1e-4", "100e-6", F::kDecimalExponent},
      {"1.5e-4", "150e-6", F::kDecimalExponent},
      {"1e-7", "100e-9", F::kDecimalExponent},
      {"0.00000000000000000000000000001Ki", "1n", F::kDecimalSI},
      {"1024Ki", "1Mi", F::kBinarySI},
      {"1025Ki", "1025Ki", F::kBinarySI},
      {"2048", "2048", F::kDecimalSI},
      {"1000000u", "1", F::kDecimalSI},
      {"1500u", "1500u", F::kDecimalSI},
      {"1024", "1024", F::kDecimalSI},
      {"1000k", "1M", F::kDecimalSI},
      {"1024k", "1024k", F::kDecimalSI},
      {"1Ei", "1Ei", F::kBinarySI},
      {"1024Pi", "1Ei", F::kBinarySI},
      {"4096Pi", "4Ei", F::kBinarySI},
      {"0.5Ei", "512Pi", F::kBinarySI},
      {"1m", "1m", F::kDecimalSI},
      {"1u", "1u", F::kDecimalSI},
      {"1.0000000001", "1000000001n", F::kDecimalSI},
      {"9999999999999999999m", "9999999999999999999m", F::kDecimalSI},
      {"9223372036854775807m", "9223372036854775807m", F::kDecimalSI},
      {"-9223372036854775808", "-9223372036854775808", F::kDecimalSI},
      {"-9223372036854775809", "-9223372036854775809", F::kDecimalSI},
      {"1000000000000000000", "1E", F::kDecimalSI},
      {"10000000000000000000", "10E", F::kDecimalSI},
      {".Ki", "0", F::kBinarySI},
      {"e3", "0", F::kDecimalExponent},
      {".e3", "0", F::kDecimalExponent},
      {"m", "0", F::kDecimalSI},
      {"-.5", "-500m", F::kDecimalSI},
      {"0.0e-20", "0", F::kDecimalExponent},
      {"1e1000000", "10e999999", F::kDecimalExponent},
      {"1e-1000000", "1e-9", F::kDecimalExponent},
      {"+1Pi", "1Pi", F::kBinarySI},
      {"+1Ti", "+1Ti", F::kBinarySI},
      {"+99Ti", "+99Ti", F::kBinarySI},
      {"+100Ti", "100Ti", F::kBinarySI},
      {"+999999Gi", "999999Gi", F::kBinarySI},
      {"+1025Ti", "1025Ti", F::kBinarySI},
      {"+9999Ti", "9999Ti", F::kBinarySI},
      {"+1000000Mi", "1000000Mi", F::kBinarySI},
      {"+10000000Mi", "10000000Mi", F::kBinarySI},
      {"+100000000Mi", "100000000Mi", F::kBinarySI},
      {"+999999999Mi", "999999999Mi", F::kBinarySI},
      {"+1000000001", "+1000000001", F::kDecimalSI},
      {"+12345678901234567m", "+12345678901234567m", F::kDecimalSI},
      {"+123456789012345678m", "+123456789012345678m", F::kDecimalSI},
      {"+1234567890123456781m", "1234567890123456781m", F::kDecimalSI},
      {"+12345678901234Ki", "12345678901234Ki", F::kBinarySI},
      {"+1234567890123Ki", "1234567890123Ki", F::kBinarySI},
      {"+123456789012Ki", "123456789012Ki", F::kBinarySI},
      {"+12345678901Ki", "+12345678901Ki", F::kBinarySI},
      {"+1234567890Ki", "+1234567890Ki", F::kBinarySI},
      {"+1023Ki", "+1023Ki", F::kBinarySI},
      {"+2048Ki", "2Mi", F::kBinarySI},
      {"+512Ki", "512Ki", F::kBinarySI},
      {"+1e999", "+1e999", F::kDecimalExponent},
      {"+999e999", "+999e999", F::kDecimalExponent},
      {"+1000e999", "1e1002", F::kDecimalExponent},
      {"+1e1000", "10e999", F::kDecimalExponent},
      {"1E999", "1E999", F::kDecimalExponent},
      {"-0001", "-0001", F::kDecimalSI},
      {"-1.", "-1.", F::kDecimalSI},
      {"00.5", "500m", F::kDecimalSI},
      {"+1n", "+1n", F::kDecimalSI},
      {"+1e-12", "1e-9", F::kDecimalExponent},
      {"1e-06", "1e-06", F::kDecimalExponent},
      {"01e-9", "01e-9", F::kDecimalExponent},
      {"1E-12", "1e-9", F::kDecimalExponent},
      {"1000n", "1u", F::kDecimalSI},
      {"+1001n", "+1001n", F::kDecimalSI},
      {"+100n", "+100n", F::kDecimalSI},
      {"1.5e3", "1500", F::kDecimalExponent},
      {"10.0", "10", F::kDecimalSI},
      {"1.10", "1100m", F::kDecimalSI},
      {"1001E", "1001E", F::kDecimalSI},
      {"123456E", "123456E", F::kDecimalSI},
      {"1e21", "1e21", F::kDecimalExponent},
      {"999999999999999999", "999999999999999999", F::kDecimalSI},
      {"+999999999999999999", "+999999999999999999", F::kDecimalSI},
      {"1e27", "1e27", F::kDecimalExponent},
      {"100000000000000000000", "100E", F::kDecimalSI},
      {"1000000000000000000001", "1000000000000000000001", F::kDecimalSI},
      {"1234000000000000000000", "1234E", F::kDecimalSI},
  };
  for (const Case& c : kCases) {
    Quantity q = Q(c.text);
    EXPECT_EQ(q.ToString(), c.canonical) << c.text;
    // Upstream returns DecimalSI and BinarySI for some numbers that it prints in the same way.
    EXPECT_EQ(q.format(), c.format) << c.text;
    EXPECT_EQ(Q(q.ToString()), q) << c.text;
    EXPECT_EQ(Q(q.ToString()).ToString(), q.ToString()) << c.text;
  }
}

TEST(Quantity, ParseRejectsInvalidText) {
  constexpr std::string_view kShape =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  constexpr std::string_view kSuffix = "unable to parse quantity's suffix";
  struct Case {
    std::string_view text, error;
  };
  const Case kCases[] = {
      {"1e9999999999999999999", kSuffix},
      {"1ee3", kSuffix},
      {"1e", kSuffix},
      {"1Ki ", kShape},
      {"", kShape},
      {"1.2.3", kShape},
      {"1..2", kShape},
      {"1k1", kSuffix},
      {"1ki", kSuffix},
      {"1KI", kShape},
      {"1K", kSuffix},
      {"1mm", kSuffix},
      {"0x10", kShape},
      {"1e3k", kShape},
      {"1Ee3", kSuffix},
      {"1i", kSuffix},
      {"1Kii", kSuffix},
      {"1e3.5", kShape},
      {"１", kShape},
      {"1 ", kShape},
      {" 1", kShape},
      {"1\n", kShape},
      {"1e 3", kShape},
      {"--1", kSuffix},
      {"1-", kSuffix},
      {"1m-", kSuffix},
      {"1K2", kSuffix},
      {"1E-", kSuffix},
      {"1e-", kSuffix},
      {"1E+", kSuffix},
      {"1En", kSuffix},
      {"1nE", kSuffix},
      {"1E1E", kShape},
      {"1e9223372036854775808", kSuffix},
      // Upstream wraps these around at 2^32.
      {"1e2147483648", kSuffix},
      {"1e-2147483649", kSuffix},
      {"1e4294967297", kSuffix},
      {std::string_view("1\0", 2), kShape},
  };
  for (const Case& c : kCases) {
    Result<Quantity> q = Quantity::Parse(c.text);
    ASSERT_FALSE(q.ok()) << c.text << " is " << q->ToString();
    EXPECT_EQ(q.status().message(), c.error) << c.text;
    EXPECT_TRUE(q.status().Is(Reason::kBadRequest));
  }
}

TEST(Quantity, RoundsValuesAwayFromZero) {
  struct Case {
    std::string_view text;
    int64_t value, milli;
    int sign;
  };
  const Case kCases[] = {
      {"0", 0, 0, 0},
      {"00", 0, 0, 0},
      {"0.5", 1, 500, 1},
      {"1000m", 1, 1000, 1},
      {"1024Mi", 1073741824, 1073741824000, 1},
      {"1.5Gi", 1610612736, 1610612736000, 1},
      {"0.1Gi", 107374183, 107374182400, 1},
      {"1e3", 1000, 1000000, 1},
      {"1E3", 1000, 1000000, 1},
      {"1000000", 1000000, 1000000000, 1},
      {"+1", 1, 1000, 1},
      {"01", 1, 1000, 1},
      {"1.0", 1, 1000, 1},
      {"1.50", 2, 1500, 1},
      {".5", 1, 500, 1},
      {"5.", 5, 5000, 1},
      {"-0", 0, 0, 0},
      {"0m", 0, 0, 0},
      {"0Ki", 0, 0, 0},
      {"12e6", 12000000, 12000000000, 1},
      {"1e-9", 1, 1, 1},
      {"1e-10", 1, 1, 1},
      {"1n", 1, 1, 1},
      {"0.1n", 1, 1, 1},
      {"100", 100, 100000, 1},
      {"0100", 100, 100000, 1},
      {"1500", 1500, 1500000, 1},
      {"01500", 1500, 1500000, 1},
      {"01Ki", 1024, 1024000, 1},
      {"+1Ki", 1024, 1024000, 1},
      {"+1k", 1000, 1000000, 1},
      {"+1m", 1, 1, 1},
      {"01m", 1, 1, 1},
      {"+1.5", 2, 1500, 1},
      {"+0.5", 1, 500, 1},
      {"+1E4", 10000, 10000000, 1},
      {"1E6", 1000000, 1000000000, 1},
      {"1E4", 10000, 10000000, 1},
      {"1E-3", 1, 1, 1},
      {"1E-6", 1, 1, 1},
      {"1E-9", 1, 1, 1},
      {"1E0", 1, 1000, 1},
      {"1e0", 1, 1000, 1},
      {"1e00", 1, 1000, 1},
      {"1e03", 1000, 1000000, 1},
      {"+1e3", 1000, 1000000, 1},
      {"1.5E3", 1500, 1500000, 1},
      {"1.E3", 1000, 1000000, 1},
      {"+10", 10, 10000, 1},
      {"+1000", 1000, 1000000, 1},
      {"+1024Ki", 1048576, 1048576000, 1},
      {"+1000m", 1, 1000, 1},
      {"+1500m", 2, 1500, 1},
      {"01Mi", 1048576, 1048576000, 1},
      {"1.0Ki", 1024, 1024000, 1},
      {"1.Ki", 1024, 1024000, 1},
      {"+1025", 1025, 1025000, 1},
      {"+1025Ki", 1049600, 1049600000, 1},
      {"-01", -1, -1000, -1},
      {"-01Ki", -1024, -1024000, -1},
      {"+1e-3", 1, 1, 1},
      {"+999", 999, 999000, 1},
      {"1e+03", 1000, 1000000, 1},
      {"1Ki", 1024, 1024000, 1},
      {"01n", 1, 1, 1},
      {"5.k", 5000, 5000000, 1},
      {"5.m", 1, 5, 1},
      {"1e+3", 1000, 1000000, 1},
      {"-", 0, 0, 0},
      {"+", 0, 0, 0},
      {".", 0, 0, 0},
      {"0.0000000001Ki", 1, 1, 1},
      {"0.5Ki", 512, 512000, 1},
      {"0.5m", 1, 1, 1},
      {"1.5m", 1, 2, 1},
      {"0.0005Ki", 1, 512, 1},
      {"1.5n", 1, 1, 1},
      {"123456789.12345678901234567890", 123456790, 123456789124, 1},
      {"1000Ki", 1024000, 1024000000, 1},
      {"1536Mi", 1610612736, 1610612736000, 1},
      {"-1.5", -2, -1500, -1},
      {"-1.5Gi", -1610612736, -1610612736000, -1},
      {"0.3Ki", 308, 307200, 1},
      {"1.3", 2, 1300, 1},
      {"1.33333333333", 2, 1334, 1},
      {"5E3", 5000, 5000000, 1},
      {"0e5", 0, 0, 0},
      {"0.000", 0, 0, 0},
      {"-1", -1, -1000, -1},
      {"1000e3", 1000000, 1000000000, 1},
      {"1500e3", 1500000, 1500000000, 1},
      {"100e3", 100000, 100000000, 1},
      {"1e4", 10000, 10000000, 1},
      {"1e5", 100000, 100000000, 1},
      {"1e-3", 1, 1, 1},
      {"1e-4", 1, 1, 1},
      {"1.5e-4", 1, 1, 1},
      {"1e-7", 1, 1, 1},
      {"0.00000000000000000000000000001Ki", 1, 1, 1},
      {"1024Ki", 1048576, 1048576000, 1},
      {"1025Ki", 1049600, 1049600000, 1},
      {"2048", 2048, 2048000, 1},
      {"1000000u", 1, 1000, 1},
      {"1500u", 1, 2, 1},
      {"1024", 1024, 1024000, 1},
      {"1000k", 1000000, 1000000000, 1},
      {"1024k", 1024000, 1024000000, 1},
      {"1m", 1, 1, 1},
      {"1u", 1, 1, 1},
      {"1.0000000001", 2, 1001, 1},
      {".Ki", 0, 0, 0},
      {"e3", 0, 0, 0},
      {".e3", 0, 0, 0},
      {"m", 0, 0, 0},
      {"-.5", -1, -500, -1},
      {"0.0e-20", 0, 0, 0},
      {"1e-1000000", 1, 1, 1},
      // Upstream returns 1 and 1 here.
      {"-0.1n", -1, -1, -1},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Q(c.text).Value(), c.value) << c.text;
    EXPECT_EQ(Q(c.text).MilliValue(), c.milli) << c.text;
    EXPECT_EQ(Q(c.text).Sign(), c.sign) << c.text;
  }
}

// Upstream returns the low 64 bits, which can turn a huge request into zero.
TEST(Quantity, ValueSaturatesAtInt64) {
  EXPECT_EQ(Q("9223372036854775807").Value(), kMax);
  EXPECT_EQ(Q("9223372036854775807").MilliValue(), kMax);
  EXPECT_EQ(Q("9223372036854775808").Value(), kMax);
  EXPECT_EQ(Q("-9223372036854775808").Value(), kMin);
  EXPECT_EQ(Q("-9223372036854775809").Value(), kMin);
  EXPECT_EQ(Q("-1e1000").MilliValue(), kMin);
  EXPECT_EQ(Q("1e2147483647").Value(), kMax);
  EXPECT_EQ(Q("123456789012345678901234567890").Value(), kMax);
  EXPECT_EQ(Q("9999999999999999999m").Value(), 10'000'000'000'000'000);
  EXPECT_EQ(Q("1e2147483647").ScaledValue(2147483647), 1);
  EXPECT_EQ(Q("1n").ScaledValue(2147483647), 1);
}

// Upstream loses the number: it has no suffix above E and prints none.
TEST(Quantity, KeepsNumbersAboveTheLargestSuffix) {
  EXPECT_EQ(Q("1000E").ToString(), "1000E");
  EXPECT_EQ(Q("1000000000000000000000").ToString(), "1000E");
  EXPECT_EQ(Q("1000000000000000000000000000E").ToString(), "1000000000000000000000000000E");
  Quantity q = Q("4Ei");
  for (int i = 0; i < 10; ++i) q.Mul(1024);
  EXPECT_EQ(q.ToString(), "5846006549323611672814739330865132078623730171904");
}

TEST(Quantity, AddsSubtractsNegatesAndCompares) {
  struct Case {
    std::string_view a, b, sum, difference, negated;
    int order;
  };
  const Case kCases[] = {
      {"1", "1", "2", "0", "-1", 0},
      {"0", "1Ki", "1Ki", "-1Ki", "0", -1},
      {"1Ki", "0", "1Ki", "1Ki", "-1Ki", 1},
      {"1Ki", "1", "1025", "1023", "-1Ki", 1},
      {"1", "1Ki", "1025", "-1023", "-1", -1},
      {"0", "1e3", "1e3", "-1e3", "0", -1},
      {"1k", "24", "1024", "976", "-1k", 1},
      {"500m", "500m", "1", "0", "-500m", 0},
      {"9223372036854775807", "1", "9223372036854775808", "9223372036854775806",
       "-9223372036854775807", 1},
      {"8Ei", "8Ei", "18446744073709551614", "0", "-9223372036854775807", 0},
      {"1n", "9223372036854775807", "9223372036854775807000000001n",
       "-9223372036854775806999999999n", "-1n", -1},
      {"1Gi", "-1Gi", "0", "2Gi", "-1Gi", 1},
      {"0.1Gi", "1", "107374183400m", "107374181400m", "-107374182400m", 1},
      {"1e3", "1Ki", "2024", "-24", "-1e3", -1},
      {"-9223372036854775807", "-1", "-9223372036854775808", "-9223372036854775806",
       "9223372036854775807", -1},
      {"-9223372036854775807", "-2", "-9223372036854775809", "-9223372036854775805",
       "9223372036854775807", -1},
      {"1e30", "1n", "1000000000000000000000000000000000000001e-9",
       "999999999999999999999999999999999999999e-9", "-1e30", 1},
      {"0Ki", "1", "1", "-1", "0", -1},
      {"123456789012345678901234567890", "-123456789012345678901234567890", "0",
       "246913578024691357802469135780", "-123456789012345678901234567890", 1},
  };
  for (const Case& c : kCases) {
    Quantity sum = Q(c.a), difference = Q(c.a), negated = Q(c.a);
    sum.Add(Q(c.b));
    difference.Sub(Q(c.b));
    negated.Neg();
    EXPECT_EQ(sum.ToString(), c.sum) << c.a << " + " << c.b;
    EXPECT_EQ(difference.ToString(), c.difference) << c.a << " - " << c.b;
    EXPECT_EQ(negated.ToString(), c.negated) << c.a;
    EXPECT_EQ(Q(c.a).Cmp(Q(c.b)), c.order) << c.a << " <=> " << c.b;
    EXPECT_EQ(Q(c.b).Cmp(Q(c.a)), -c.order) << c.b << " <=> " << c.a;
  }
}

TEST(Quantity, AddsToItself) {
  Quantity q = Q("+3");
  q.Add(q);
  EXPECT_EQ(q.ToString(), "6");
  q.Sub(q);
  EXPECT_TRUE(q.IsZero());
}

TEST(Quantity, Multiplies) {
  struct Case {
    std::string_view text;
    int64_t factor;
    std::string_view product;
  };
  const Case kCases[] = {
      {"1", 0, "0"},
      {"1", 1, "1"},
      {"1", -1, "-1"},
      {"1", 1000, "1k"},
      {"1", -7, "-7"},
      {"1Ki", 0, "0"},
      {"1Ki", 1, "1Ki"},
      {"1Ki", -1, "-1Ki"},
      {"1Ki", 1000, "1000Ki"},
      {"1Ki", -7, "-7Ki"},
      {"+5", 0, "0"},
      {"+5", 1, "5"},
      {"+5", -1, "-5"},
      {"+5", 1000, "5k"},
      {"+5", -7, "-35"},
      {"9223372036854775807", 0, "0"},
      {"9223372036854775807", 1, "9223372036854775807"},
      {"9223372036854775807", -1, "-9223372036854775807"},
      {"9223372036854775807", 1000, "9223372036854775807k"},
      {"9223372036854775807", -7, "-64563604257983430649"},
      {"-3m", 0, "0"},
      {"-3m", 1, "-3m"},
      {"-3m", -1, "3m"},
      {"-3m", 1000, "-3"},
      {"-3m", -7, "21m"},
      {"-9223372036854775808", kMin, "85070591730234615865843651857942052864"},
  };
  for (const Case& c : kCases) {
    Quantity q = Q(c.text);
    q.Mul(c.factor);
    EXPECT_EQ(q.ToString(), c.product) << c.text << " * " << c.factor;
  }
}

TEST(Quantity, RoundsUpToAScale) {
  struct Case {
    std::string_view text;
    int32_t scale;
    int64_t scaled;
    std::string_view rounded;
    bool exact;
  };
  const Case kCases[] = {
      {"0", -9, 0, "0", true},
      {"0", -3, 0, "0", true},
      {"0", 0, 0, "0", true},
      {"0", 3, 0, "0", true},
      {"0", 6, 0, "0", true},
      {"0", 18, 0, "0", true},
      {"1", -9, 1000000000, "1", true},
      {"1", -3, 1000, "1", true},
      {"1", 0, 1, "1", true},
      {"1", 3, 1, "1k", false},
      {"1", 6, 1, "1M", false},
      {"1", 18, 1, "1E", false},
      {"1.5", -9, 1500000000, "1500m", true},
      {"1.5", -3, 1500, "1500m", true},
      {"1.5", 0, 2, "2", false},
      {"1.5", 3, 1, "1k", false},
      {"1.5", 6, 1, "1M", false},
      {"1.5", 18, 1, "1E", false},
      {"-1.5", -9, -1500000000, "-1500m", true},
      {"-1.5", -3, -1500, "-1500m", true},
      {"-1.5", 0, -2, "-2", false},
      {"-1.5", 3, -1, "-1k", false},
      {"-1.5", 6, -1, "-1M", false},
      {"-1.5", 18, -1, "-1E", false},
      {"999", -9, 999000000000, "999", true},
      {"999", -3, 999000, "999", true},
      {"999", 0, 999, "999", true},
      {"999", 3, 1, "1k", false},
      {"999", 6, 1, "1M", false},
      {"999", 18, 1, "1E", false},
      {"1001", -9, 1001000000000, "1001", true},
      {"1001", -3, 1001000, "1001", true},
      {"1001", 0, 1001, "1001", true},
      {"1001", 3, 2, "2k", false},
      {"1001", 6, 1, "1M", false},
      {"1001", 18, 1, "1E", false},
      {"1m", -9, 1000000, "1m", true},
      {"1m", -3, 1, "1m", true},
      {"1m", 0, 1, "1", false},
      {"1m", 3, 1, "1k", false},
      {"1m", 6, 1, "1M", false},
      {"1m", 18, 1, "1E", false},
      {"-1m", -9, -1000000, "-1m", true},
      {"-1m", -3, -1, "-1m", true},
      {"-1m", 0, -1, "-1", false},
      {"-1m", 3, -1, "-1k", false},
      {"-1m", 6, -1, "-1M", false},
      {"-1m", 18, -1, "-1E", false},
      {"123456789", -9, 123456789000000000, "123456789", true},
      {"123456789", -3, 123456789000, "123456789", true},
      {"123456789", 0, 123456789, "123456789", true},
      {"123456789", 3, 123457, "123457k", false},
      {"123456789", 6, 124, "124M", false},
      {"123456789", 18, 1, "1E", false},
      {"1n", -9, 1, "1n", true},
      {"1n", -3, 1, "1m", false},
      {"1n", 0, 1, "1", false},
      {"1n", 3, 1, "1k", false},
      {"1n", 6, 1, "1M", false},
      {"1n", 18, 1, "1E", false},
      {"1Ki", -9, 1024000000000, "1Ki", true},
      {"1Ki", -3, 1024000, "1Ki", true},
      {"1Ki", 0, 1024, "1Ki", true},
      {"1Ki", 3, 2, "2000", false},
      {"1Ki", 6, 1, "1000000", false},
      {"1Ki", 18, 1, "976562500000000Ki", false},
  };
  for (const Case& c : kCases) {
    Quantity q = Q(c.text);
    EXPECT_EQ(q.ScaledValue(c.scale), c.scaled) << c.text << " at " << c.scale;
    EXPECT_EQ(q.RoundUp(c.scale), c.exact) << c.text << " at " << c.scale;
    EXPECT_EQ(q.ToString(), c.rounded) << c.text << " at " << c.scale;
  }
}

TEST(Quantity, ConstructsFromIntegers) {
  struct Case {
    int64_t value;
    F format;
    std::string_view text, milli;
  };
  const Case kCases[] = {
      {0, F::kDecimalSI, "0", "0"},
      {0, F::kBinarySI, "0", "0"},
      {0, F::kDecimalExponent, "0", "0"},
      {1, F::kDecimalSI, "1", "1m"},
      {1, F::kBinarySI, "1", "1m"},
      {1, F::kDecimalExponent, "1", "1e-3"},
      {-1, F::kDecimalSI, "-1", "-1m"},
      {-1, F::kBinarySI, "-1", "-1m"},
      {-1, F::kDecimalExponent, "-1", "-1e-3"},
      {1000, F::kDecimalSI, "1k", "1"},
      {1000, F::kBinarySI, "1k", "1"},
      {1000, F::kDecimalExponent, "1e3", "1"},
      {1024, F::kDecimalSI, "1024", "1024m"},
      {1024, F::kBinarySI, "1Ki", "1024m"},
      {1024, F::kDecimalExponent, "1024", "1024e-3"},
      {1048576, F::kDecimalSI, "1048576", "1048576m"},
      {1048576, F::kBinarySI, "1Mi", "1048576m"},
      {1048576, F::kDecimalExponent, "1048576", "1048576e-3"},
      {1500, F::kDecimalSI, "1500", "1500m"},
      {1500, F::kBinarySI, "1500", "1500m"},
      {1500, F::kDecimalExponent, "1500", "1500e-3"},
      {-1024, F::kDecimalSI, "-1024", "-1024m"},
      {-1024, F::kBinarySI, "-1Ki", "-1024m"},
      {-1024, F::kDecimalExponent, "-1024", "-1024e-3"},
      {9223372036854775807, F::kDecimalSI, "9223372036854775807", "9223372036854775807m"},
      {9223372036854775807, F::kBinarySI, "9223372036854775807", "9223372036854775807m"},
      {9223372036854775807, F::kDecimalExponent, "9223372036854775807", "9223372036854775807e-3"},
      {INT64_MIN, F::kDecimalSI, "-9223372036854775808", "-9223372036854775808m"},
      {INT64_MIN, F::kBinarySI, "-9223372036854775808", "-9223372036854775808m"},
      {INT64_MIN, F::kDecimalExponent, "-9223372036854775808", "-9223372036854775808e-3"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Quantity(c.value, c.format).ToString(), c.text);
    EXPECT_EQ(Quantity::Milli(c.value, c.format).ToString(), c.milli);
    EXPECT_EQ(Quantity(c.value, c.format).AsInt64(), c.value);
  }
  EXPECT_EQ(Quantity::Scaled(1, -12).ToString(), "1n");
  EXPECT_EQ(Quantity::Scaled(-1, std::numeric_limits<int32_t>::min()).ToString(), "-1n");
  EXPECT_EQ(Quantity().ToString(), "0");
}

TEST(Quantity, AsInt64RequiresAnExactValue) {
  EXPECT_EQ(Q("1500m").AsInt64(), std::nullopt);
  EXPECT_EQ(Q("2000m").AsInt64(), 2);
  EXPECT_EQ(Q("1.5Gi").AsInt64(), 1610612736);
  EXPECT_EQ(Q("0.1Gi").AsInt64(), std::nullopt);
  EXPECT_EQ(Q("9223372036854775808").AsInt64(), std::nullopt);
  EXPECT_EQ(Q("-9223372036854775808").AsInt64(), kMin);
  EXPECT_EQ(Q("1e1000000000").AsInt64(), std::nullopt);
  EXPECT_EQ(Q("0").AsInt64(), 0);
}

TEST(Quantity, ComparesNumbersNotText) {
  EXPECT_EQ(Q("1024Mi"), Q("1Gi"));
  EXPECT_EQ(Q("+1"), Q("1000m"));
  EXPECT_EQ(Q("-0"), Q("0Ki"));
  EXPECT_LT(Q("-1e1000000000"), Q("-1"));
  EXPECT_LT(Q("1"), Q("1e1000000000"));
  EXPECT_LT(Q("999999999999999999999999999999"), Q("1e30"));
  EXPECT_EQ(Q("1000000000000000000000000000000"), Q("1e30"));
  EXPECT_EQ(Q("10e999999999"), Q("1e1000000000"));
  EXPECT_GT(Q("1e1000000001"), Q("9e1000000000"));
}

TEST(Quantity, ChangeDropsTheOriginalNotation) {
  Quantity q = Q("+1");
  EXPECT_EQ(Quantity(q).ToString(), "+1");
  q.Add(Quantity());
  EXPECT_EQ(q.ToString(), "1");
  Quantity into;
  into.Add(Q("01"));
  EXPECT_EQ(into.ToString(), "1");
  Quantity moved = Q("+1");
  Quantity target = std::move(moved);
  EXPECT_EQ(target.ToString(), "+1");
}

TEST(Quantity, HugeExponentsStayCheap) {
  Quantity sum = Q("1");
  sum.Add(Q("1e1000000000"));
  EXPECT_EQ(sum.ToString(), "10e999999999");
  sum.Sub(Q("1Ki"));
  EXPECT_EQ(sum.ToString(), "10e999999999");
  Quantity binary = Q("1Ki");
  binary.Add(Q("1e1000000000"));
  EXPECT_EQ(binary.ToString(), "10e999999999");
  EXPECT_EQ(Q("1000e2147483646").ToString(), "1000e2147483646");
  EXPECT_EQ(Q("1e-2147483648").ToString(), "1e-9");
  std::string digits(1'000'000, '7');
  EXPECT_EQ(Q(digits).ToString(), digits);
  EXPECT_EQ(Q("0." + digits).ToString(), "777777778n");
  EXPECT_EQ(Q(digits + "Ki").ToString(), "9223372036854775807");
}

TEST(Quantity, ConvertsToApproximateDouble) {
  EXPECT_DOUBLE_EQ(Q("1500m").AsApproximateDouble(), 1.5);
  EXPECT_DOUBLE_EQ(Q("-1Ki").AsApproximateDouble(), -1024);
  EXPECT_DOUBLE_EQ(Q("123456789012345678901234567890").AsApproximateDouble(),
                   1.2345678901234568e29);
  EXPECT_DOUBLE_EQ(Quantity().AsApproximateDouble(), 0);
}

}  // namespace
}  // namespace cox
