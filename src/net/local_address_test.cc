// SPDX-License-Identifier: Apache-2.0
#include "net/local_address.h"

#include <gtest/gtest.h>

namespace cox::net {
namespace {

TEST(LocalAddress, IsAnAddressOfThisMachine) {
  for (const char* ip : {"127.0.0.1", "127.1.2.3", "::ffff:127.0.0.1", "0.0.0.0"}) {
    EXPECT_TRUE(IsLocalAddress(ip)) << ip;
  }
  // Reserved for documentation (RFC 5737, RFC 3849).
  for (const char* ip : {"192.0.2.1", "2001:db8::1", "localhost", "", "1.2.3"}) {
    EXPECT_FALSE(IsLocalAddress(ip)) << ip;
  }
}

}  // namespace
}  // namespace cox::net
