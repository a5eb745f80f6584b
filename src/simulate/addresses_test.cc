// SPDX-License-Identifier: Apache-2.0
#include "simulate/addresses.h"

#include <gtest/gtest.h>

#include <set>

namespace cox::simulate {
namespace {

TEST(Addresses, NodeAddressesAreUnique) {
  EXPECT_EQ(NodeAddress(0), "100.64.0.1");
  EXPECT_EQ(NodeAddress(255), "100.64.1.0");
  EXPECT_EQ(NodeAddress(65'535), "100.65.0.0");
}

TEST(Addresses, PodAddressesOfNodeAreUnique) {
  PodAddresses addresses;
  std::set<std::string> taken;
  for (int i = 0; i < 254; ++i) taken.insert(addresses.Take(300));
  EXPECT_EQ(taken.size(), 254U);
  EXPECT_TRUE(taken.contains("10.1.44.1"));
  EXPECT_TRUE(taken.contains("10.1.44.254"));
  EXPECT_EQ(addresses.Take(300), "");
  EXPECT_EQ(addresses.Take(301), "10.1.45.1");
}

TEST(Addresses, ReleasedAddressesAreReusedLast) {
  PodAddresses addresses;
  EXPECT_EQ(addresses.Take(0), "10.0.0.1");
  addresses.Release(0, "10.0.0.1");
  EXPECT_EQ(addresses.Take(0), "10.0.0.2");
  for (int i = 0; i < 252; ++i) (void)addresses.Take(0);
  EXPECT_EQ(addresses.Take(0), "10.0.0.1");
}

TEST(Addresses, KeptAddressesAreNotAllocated) {
  PodAddresses addresses;
  addresses.Keep(0, "10.0.0.1");
  addresses.Keep(0, "10.0.1.2");    // another node
  addresses.Keep(0, "10.0.0.2x");   // invalid
  addresses.Keep(0, "10.0.0.999");  // invalid
  addresses.Keep(0, "");
  EXPECT_EQ(addresses.Take(0), "10.0.0.2");
}

}  // namespace
}  // namespace cox::simulate
