// SPDX-License-Identifier: Apache-2.0
#include "proxy/model/address.h"

#include <gtest/gtest.h>

namespace cox::proxy {
namespace {

TEST(AddressTest, ParsesAndFormatsBothFamilies) {
  for (const char* text : {"10.0.0.1", "255.255.255.255", "fd00::1", "::"}) {
    const auto address = Address::Parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->ToString(), text);
  }
  for (const char* text : {"", "None", "10.0.0", "10.0.0.256", "fd00::g", "10.0.0.1 "}) {
    EXPECT_FALSE(Address::Parse(text)) << text;
  }
}

TEST(PrefixTest, MasksAndContainsAddresses) {
  EXPECT_EQ(Prefix::Parse("10.1.2.3/8")->ToString(), "10.0.0.0/8");
  EXPECT_EQ(Prefix::Parse(" fd00:1:2::/32 ")->ToString(), "fd00:1::/32");
  EXPECT_TRUE(Prefix::Parse("10.0.0.0/8")->Contains(*Address::Parse("10.9.9.9")));
  EXPECT_FALSE(Prefix::Parse("10.0.0.0/8")->Contains(*Address::Parse("11.0.0.0")));
  EXPECT_FALSE(Prefix::Parse("0.0.0.0/0")->Contains(*Address::Parse("::1")));
  EXPECT_TRUE(Prefix::Parse("10.0.0.4/30")->Contains(*Address::Parse("10.0.0.7")));
  for (const char* text : {"10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "x/8"}) {
    EXPECT_FALSE(Prefix::Parse(text)) << text;
  }
}

}  // namespace
}  // namespace cox::proxy
