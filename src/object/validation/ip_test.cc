// SPDX-License-Identifier: Apache-2.0
#include "object/validation/ip.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace cox::validation {
namespace {

const FieldPath kPath("f");

// The detail of the only error, "" for none; `unreadable` is replaced by "@" to keep the tables
// short.
std::string Detail(const FieldErrorList& errors, std::string_view unreadable) {
  if (errors.empty()) return "";
  EXPECT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].type, FieldError::Type::kInvalid);
  return errors[0].detail == unreadable ? "@" : errors[0].detail;
}

// The expected results are upstream's.
TEST(Ip, AddressValidationMatchesUpstream) {
  struct Case {
    std::string_view text, strict, legacy, legacy_strict, warning;
  };
  const Case kCases[] = {
      {"1.2.3.4", "", "", "", ""},
      {"01.2.3.4", "must not have leading 0s", "", "must not have leading 0s",
       "f: non-standard IP address \"01.2.3.4\" is invalid: use \"1.2.3.4\""},
      {"1.2.3", "@", "@", "@", ""},
      {"1.2.3.4.5", "@", "@", "@", ""},
      {"256.1.1.1", "@", "@", "@", ""},
      {"", "@", "@", "@", ""},
      {"::1", "", "", "", ""},
      {"::", "", "", "", ""},
      {"1::2::3", "@", "@", "@", ""},
      {"::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address", "",
       "must not be an IPv4-mapped IPv6 address",
       "f: non-standard IP address \"::ffff:1.2.3.4\" is invalid: use \"1.2.3.4\""},
      {"::ffff:01.2.3.4", "must not have leading 0s", "", "must not have leading 0s",
       "f: non-standard IP address \"::ffff:01.2.3.4\" is invalid: use \"1.2.3.4\""},
      {"0:0:0:0:0:0:0:1", "must be in canonical form (\"::1\")", "", "",
       "f: IPv6 address \"0:0:0:0:0:0:0:1\" should be in RFC 5952 canonical format (\"::1\")"},
      {"1:2:3:4:5:6:7:8", "", "", "", ""},
      {"1:2:3:4:5:6:7:8:9", "@", "@", "@", ""},
      {"fe80::1%eth0", "@", "@", "@", ""},
      {"2001:DB8::1", "must be in canonical form (\"2001:db8::1\")", "", "",
       "f: IPv6 address \"2001:DB8::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")"},
      {"2001:db8:0::1", "must be in canonical form (\"2001:db8::1\")", "", "",
       "f: IPv6 address \"2001:db8:0::1\" should be in RFC 5952 canonical format "
       "(\"2001:db8::1\")"},
      {"1:2:3:4:5:6:7::", "must be in canonical form (\"1:2:3:4:5:6:7:0\")", "", "",
       "f: IPv6 address \"1:2:3:4:5:6:7::\" should be in RFC 5952 canonical format "
       "(\"1:2:3:4:5:6:7:0\")"},
      {"::1.2.3.4", "must be in canonical form (\"::102:304\")", "", "",
       "f: IPv6 address \"::1.2.3.4\" should be in RFC 5952 canonical format (\"::102:304\")"},
      {"g::1", "@", "@", "@", ""},
      {"12345::", "@", "@", "@", ""},
      {" 1.2.3.4", "@", "@", "@", ""},
      {"1.2.3.4 ", "@", "@", "@", ""},
      {"1.2.3.4/24", "@", "@", "@", ""},
      {"0x1.2.3.4", "@", "@", "@", ""},
      {"::ffff:0102:0304", "must not be an IPv4-mapped IPv6 address", "",
       "must not be an IPv4-mapped IPv6 address",
       "f: non-standard IP address \"::ffff:0102:0304\" is invalid: use \"1.2.3.4\""},
      {"1:2:3:4:5:6:1.2.3.4", "must be in canonical form (\"1:2:3:4:5:6:102:304\")", "", "",
       "f: IPv6 address \"1:2:3:4:5:6:1.2.3.4\" should be in RFC 5952 canonical format "
       "(\"1:2:3:4:5:6:102:304\")"},
      {"1:2:3:4:5:6:7:1.2.3.4", "@", "@", "@", ""},
      {":1", "@", "@", "@", ""},
      {"1:", "@", "@", "@", ""},
      {"1.2.3.-4", "@", "@", "@", ""},
      {"00.0.0.0", "must not have leading 0s", "", "must not have leading 0s",
       "f: non-standard IP address \"00.0.0.0\" is invalid: use \"0.0.0.0\""},
      {"0.0.0.0", "", "", "", ""},
      {"1:0:0:2:0:0:0:3", "must be in canonical form (\"1:0:0:2::3\")", "", "",
       "f: IPv6 address \"1:0:0:2:0:0:0:3\" should be in RFC 5952 canonical format "
       "(\"1:0:0:2::3\")"},
      {"[::1]", "@", "@", "@", ""},
      {"::00001", "must not have leading 0s", "", "must not have leading 0s",
       "f: non-standard IP address \"::00001\" is invalid: use \"::1\""},
      {"2001:db8:0:0:1:0:0:1", "must be in canonical form (\"2001:db8::1:0:0:1\")", "", "",
       "f: IPv6 address \"2001:db8:0:0:1:0:0:1\" should be in RFC 5952 canonical format "
       "(\"2001:db8::1:0:0:1\")"},
      {"1.2.3.", "@", "@", "@", ""},
      {"1..2.3", "@", "@", "@", ""},
      {"::1:", "@", "@", "@", ""},
      {"1.2.3.0004", "must not have leading 0s", "", "must not have leading 0s",
       "f: non-standard IP address \"1.2.3.0004\" is invalid: use \"1.2.3.4\""},
      {"::0.0.0.0", "must be in canonical form (\"::\")", "", "",
       "f: IPv6 address \"::0.0.0.0\" should be in RFC 5952 canonical format (\"::\")"},
      {"1::8:7:6:5:4:3:2", "@", "@", "@", ""},
      {"1:2:3:4::5:6:7:8", "@", "@", "@", ""},
  };
  for (const Case& c : kCases) {
    constexpr std::string_view kUnreadable =
        "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    EXPECT_EQ(Detail(IsValidIP(kPath, c.text), kUnreadable), c.strict) << c.text;
    EXPECT_EQ(Detail(IsValidIPForLegacyField(kPath, c.text, false), kUnreadable), c.legacy)
        << c.text;
    EXPECT_EQ(Detail(IsValidIPForLegacyField(kPath, c.text, true), kUnreadable), c.legacy_strict)
        << c.text;
    EXPECT_EQ(Join(GetWarningsForIP(kPath, c.text), "|"), c.warning) << c.text;
  }
}

TEST(Ip, CidrValidationMatchesUpstream) {
  struct Case {
    std::string_view text, strict, legacy, legacy_strict, warning, interface;
  };
  const Case kCases[] = {
      {"1.2.3.0/24", "", "", "", "", ""},
      {"1.2.3.4/24", "must not have bits set beyond the prefix length", "",
       "must not have bits set beyond the prefix length",
       "f: CIDR value \"1.2.3.4/24\" is ambiguous in this context (should be \"1.2.3.0/24\" or "
       "\"1.2.3.4/32\"?)",
       ""},
      {"01.2.3.0/24", "must not have leading 0s in IP or prefix length", "",
       "must not have leading 0s in IP or prefix length",
       "f: non-standard CIDR value \"01.2.3.0/24\" is invalid: use \"1.2.3.0/24\"",
       "must be in canonical form (\"1.2.3.0/24\")"},
      {"1.2.3.0/024", "must not have leading 0s in IP or prefix length", "",
       "must not have leading 0s in IP or prefix length",
       "f: non-standard CIDR value \"1.2.3.0/024\" is invalid: use \"1.2.3.0/24\"",
       "must be in canonical form (\"1.2.3.0/24\")"},
      {"1.2.3.0/33", "@", "@", "@", "", "@"},
      {"1.2.3.0/-1", "@", "@", "@", "", "@"},
      {"1.2.3.0", "@", "@", "@", "", "@"},
      {"1.2.3.0/", "@", "@", "@", "", "@"},
      {"/24", "@", "@", "@", "", "@"},
      {"::/0", "", "", "", "", ""},
      {"::1/64", "must not have bits set beyond the prefix length", "",
       "must not have bits set beyond the prefix length",
       "f: CIDR value \"::1/64\" is ambiguous in this context (should be \"::/64\" or "
       "\"::1/128\"?)",
       ""},
      {"2001:db8::/32", "", "", "", "", ""},
      {"2001:DB8::/32", "must be in canonical form (\"2001:db8::/32\")", "", "",
       "f: IPv6 CIDR value \"2001:DB8::/32\" should be in RFC 5952 canonical format "
       "(\"2001:db8::/32\")",
       "must be in canonical form (\"2001:db8::/32\")"},
      {"::ffff:1.2.3.0/120", "must not have an IPv4-mapped IPv6 address", "",
       "must not have an IPv4-mapped IPv6 address",
       "f: non-standard CIDR value \"::ffff:1.2.3.0/120\" is invalid: use \"1.2.3.0/24\"",
       "must be in canonical form (\"1.2.3.0/24\")"},
      {"1.2.3.0/+24", "@", "@", "@", "", "@"},
      {"", "@", "@", "@", "", "@"},
      {"1.2.3.0/24/8", "@", "@", "@", "", "@"},
      {"fe80::%eth0/64", "@", "@", "@", "", "@"},
      {"0.0.0.0/0", "", "", "", "", ""},
      {"::/129", "@", "@", "@", "", "@"},
      {"1.2.3.0/2a", "@", "@", "@", "", "@"},
      {"1.2.3.0/00", "must not have leading 0s in IP or prefix length", "",
       "must not have leading 0s in IP or prefix length",
       "f: CIDR value \"1.2.3.0/00\" is ambiguous in this context (should be \"0.0.0.0/0\" or "
       "\"1.2.3.0/32\"?)|f: non-standard CIDR value \"1.2.3.0/00\" is invalid: use \"0.0.0.0/0\"",
       "must be in canonical form (\"1.2.3.0/0\")"},
      {" 1.2.3.0/24", "@", "@", "@", "", "@"},
      {"2001:db8:0::/48", "must be in canonical form (\"2001:db8::/48\")", "", "",
       "f: IPv6 CIDR value \"2001:db8:0::/48\" should be in RFC 5952 canonical format "
       "(\"2001:db8::/48\")",
       "must be in canonical form (\"2001:db8::/48\")"},
      {"1.2.3/24", "@", "@", "@", "", "@"},
      {"::ffff:1.2.3.0/24", "must not have an IPv4-mapped IPv6 address", "",
       "must not have an IPv4-mapped IPv6 address",
       "f: CIDR value \"::ffff:1.2.3.0/24\" is ambiguous in this context (should be \"::/24\" or "
       "\"1.2.3.0/128\"?)|f: non-standard CIDR value \"::ffff:1.2.3.0/24\" is invalid: use "
       "\"::/24\"",
       "must be in canonical form (\"1.2.3.0/24\")"},
      {"::ffff:0:0/96", "must not have an IPv4-mapped IPv6 address", "",
       "must not have an IPv4-mapped IPv6 address",
       "f: non-standard CIDR value \"::ffff:0:0/96\" is invalid: use \"0.0.0.0/0\"",
       "must be in canonical form (\"0.0.0.0/0\")"},
      {"1.2.3.0/08", "must not have leading 0s in IP or prefix length", "",
       "must not have leading 0s in IP or prefix length",
       "f: CIDR value \"1.2.3.0/08\" is ambiguous in this context (should be \"1.0.0.0/8\" or "
       "\"1.2.3.0/32\"?)|f: non-standard CIDR value \"1.2.3.0/08\" is invalid: use \"1.0.0.0/8\"",
       "must be in canonical form (\"1.2.3.0/8\")"},
      {"1.2.3.0/0", "must not have bits set beyond the prefix length", "",
       "must not have bits set beyond the prefix length",
       "f: CIDR value \"1.2.3.0/0\" is ambiguous in this context (should be \"0.0.0.0/0\" or "
       "\"1.2.3.0/32\"?)",
       ""},
  };
  for (const Case& c : kCases) {
    constexpr std::string_view kUnreadable =
        "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    EXPECT_EQ(Detail(IsValidCIDR(kPath, c.text), kUnreadable), c.strict) << c.text;
    EXPECT_EQ(Detail(IsValidCIDRForLegacyField(kPath, c.text, false), kUnreadable), c.legacy)
        << c.text;
    EXPECT_EQ(Detail(IsValidCIDRForLegacyField(kPath, c.text, true), kUnreadable), c.legacy_strict)
        << c.text;
    EXPECT_EQ(Join(GetWarningsForCIDR(kPath, c.text), "|"), c.warning) << c.text;
    EXPECT_EQ(Detail(IsValidInterfaceAddress(kPath, c.text),
                     "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"),
              c.interface)
        << c.text;
  }
}

TEST(Ip, ExistingValuesOfTheObjectStayValid) {
  constexpr std::string_view kOld[] = {"01.2.3.4", "01.2.3.0/24"};
  EXPECT_TRUE(IsValidIPForLegacyField(kPath, "01.2.3.4", true, kOld).empty());
  EXPECT_TRUE(IsValidCIDRForLegacyField(kPath, "01.2.3.0/24", true, kOld).empty());
  EXPECT_FALSE(IsValidIPForLegacyField(kPath, "01.2.3.5", true, kOld).empty());
}

TEST(Ip, ErrorsContainTheirOrigin) {
  EXPECT_EQ(IsValidIP(kPath, "x")[0].origin, "format=ip-strict");
  EXPECT_EQ(IsValidIPForLegacyField(kPath, "x", true)[0].origin, "format=ip-sloppy");
  EXPECT_EQ(
      IsValidIP(kPath, "x")[0].ToString(),
      "f: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

TEST(Ip, CidrContainsAddressesOfItsNetwork) {
  const auto contains = [](std::string_view cidr, std::string_view ip) {
    return ParseCidrSloppy(cidr)->Contains(*ParseIpSloppy(ip));
  };
  EXPECT_TRUE(contains("10.96.0.0/12", "10.96.0.1"));
  EXPECT_TRUE(contains("10.96.1.2/12", "10.111.255.255"));
  EXPECT_TRUE(contains("10.96.0.0/12", "::ffff:10.96.0.1"));
  EXPECT_TRUE(contains("10.96.0.1/32", "10.96.0.1"));
  EXPECT_TRUE(contains("0.0.0.0/0", "192.0.2.1"));
  EXPECT_TRUE(contains("fd00:96::/112", "fd00:96::1"));
  EXPECT_FALSE(contains("10.96.0.0/12", "10.112.0.0"));
  EXPECT_FALSE(contains("10.96.0.1/32", "10.96.0.2"));
  EXPECT_FALSE(contains("fd00:96::/112", "fd00:96::1:0"));
  EXPECT_FALSE(contains("::/0", "10.96.0.1"));
  EXPECT_FALSE(contains("0.0.0.0/0", "fd00::1"));
}

TEST(Ip, EqualAddressesWithDifferentTextAreEqual) {
  EXPECT_EQ(*ParseIpSloppy("::ffff:1.2.3.4"), *ParseIpSloppy("01.2.3.4"));
  EXPECT_EQ(ParseCidrSloppy("10.1.2.3/12")->Network().ToString(), "10.0.0.0");
  EXPECT_EQ(ParseCidrSloppy("2001:db8::ffff/127")->Network().ToString(), "2001:db8::fffe");
}

}  // namespace
}  // namespace cox::validation
