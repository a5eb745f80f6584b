// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "apiserver/registry/kinds/core/service/alloc/ip_range.h"
#include "apiserver/registry/kinds/core/service/alloc/port_bitmap.h"

namespace cox::apiserver {
namespace {

validation::IpAddress Ip(std::string_view text) { return *validation::ParseIpSloppy(text); }

TEST(IpRangeTest, ExcludesNetworkAndBroadcastAddress) {
  struct Case {
    std::string_view cidr;
    uint64_t size;
    std::string_view first, last;
    uint64_t lower_band;
  };
  const Case cases[] = {
      {"10.96.0.0/16", 65534, "10.96.0.1", "10.96.255.254", 256},
      {"10.0.0.0/24", 254, "10.0.0.1", "10.0.0.254", 16},
      {"10.0.0.0/28", 14, "10.0.0.1", "10.0.0.14", 14},
      {"10.0.0.8/29", 6, "10.0.0.9", "10.0.0.14", 0},
      {"10.0.0.0/20", 4094, "10.0.0.1", "10.0.15.254", 256},
      {"fd00::/112", 65535, "fd00::1", "fd00::ffff", 256},
      {"fd00::/108", 1048575, "fd00::1", "fd00::f:ffff", 256},
  };
  for (const Case& c : cases) {
    const std::optional<IpRange> range = IpRange::Parse(c.cidr);
    ASSERT_TRUE(range) << c.cidr;
    EXPECT_EQ(range->size(), c.size) << c.cidr;
    EXPECT_EQ(range->At(0).ToString(), c.first) << c.cidr;
    EXPECT_EQ(range->At(range->size() - 1).ToString(), c.last) << c.cidr;
    EXPECT_EQ(range->lower_band(), c.lower_band) << c.cidr;
    EXPECT_TRUE(range->Allocatable(range->At(0))) << c.cidr;
    EXPECT_TRUE(range->Allocatable(range->At(range->size() - 1))) << c.cidr;
  }
}

TEST(IpRangeTest, ReportsContainedAndAllocatableAddresses) {
  const IpRange range = *IpRange::Parse("10.96.0.0/16");
  EXPECT_EQ(range.family(), "IPv4");
  EXPECT_TRUE(range.Contains(Ip("10.96.0.0")));
  EXPECT_FALSE(range.Allocatable(Ip("10.96.0.0")));
  EXPECT_TRUE(range.Contains(Ip("10.96.255.255")));
  EXPECT_FALSE(range.Allocatable(Ip("10.96.255.255")));
  EXPECT_FALSE(range.Contains(Ip("10.97.0.1")));
  EXPECT_FALSE(range.Contains(Ip("fd00::1")));
  const IpRange six = *IpRange::Parse("fd00::/64");
  EXPECT_EQ(six.family(), "IPv6");
  EXPECT_FALSE(six.Allocatable(Ip("fd00::")));
  EXPECT_TRUE(six.Allocatable(Ip("fd00::1:0:0:1")));
  EXPECT_FALSE(six.Contains(Ip("fd00:0:0:1::1")));
}

TEST(IpRangeTest, AcceptsOnlyCanonicalForms) {
  for (std::string_view text : {"", "x", "10.0.0.0", "10.0.0.1/24", "010.0.0.0/8", "10.0.0.0/33"}) {
    EXPECT_FALSE(IpRange::Parse(text)) << text;
  }
}

TEST(PortRangeTest, ParsesAndFormats) {
  EXPECT_EQ(PortRange::Parse("30000-32767"), PortRange{});
  EXPECT_EQ(PortRange{}.ToString(), "30000-32767");
  EXPECT_EQ(PortRange::Parse("80"), (PortRange{80, 80}));
  for (std::string_view text : {"", "-", "1-", "2-1", "1-65536", "a-b"}) {
    EXPECT_FALSE(PortRange::Parse(text)) << text;
  }
}

TEST(PortBitmapTest, WireFormatIsOneBigEndianNumber) {
  PortBitmap ports({100, 120});
  EXPECT_EQ(ports.Data(), "");
  ports.Set(100);
  EXPECT_EQ(ports.Data(), "\x01");
  ports.Set(109);
  EXPECT_EQ(ports.Data(), "\x02\x01");
  ports.Set(120);
  EXPECT_EQ(ports.Data(), "\x10\x02\x01");
  const PortBitmap read({100, 120}, ports.Data());
  EXPECT_EQ(read, ports);
  EXPECT_TRUE(read.Has(109));
  EXPECT_FALSE(read.Has(110));
}

TEST(PortBitmapTest, FindFreeUsesLowerBandLast) {
  struct Case {
    PortRange range;
    int32_t band;
  };
  const Case cases[] = {
      {{30000, 32767}, 86}, {{1, 15}, 0}, {{1, 16}, 16}, {{1, 65535}, 128}, {{1, 600}, 18}};
  for (const Case& c : cases) EXPECT_EQ(PortBitmap(c.range).lower_band(), c.band);

  PortBitmap ports({1, 100});
  std::set<int32_t> given;
  bool lower_seen = false;
  uint64_t next = 7;
  const Random random = [&](uint64_t bound) { return (next = next * 31 + 11) % bound; };
  for (int i = 0; i < 100; ++i) {
    const std::optional<int32_t> port = ports.FindFree(random);
    ASSERT_TRUE(port);
    EXPECT_TRUE(given.insert(*port).second);
    lower_seen |= *port <= 16;
    EXPECT_EQ(lower_seen, i >= 84) << i;
    ports.Set(*port);
  }
  EXPECT_FALSE(ports.FindFree(random));
}

}  // namespace
}  // namespace cox::apiserver
