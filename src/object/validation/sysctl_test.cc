// SPDX-License-Identifier: Apache-2.0
#include "object/validation/sysctl.h"

#include <gtest/gtest.h>

namespace cox::validation {
namespace {

TEST(SysctlTest, NamesAreWordsWithDotsOrSlashes) {
  for (const char* name : {"kernel.sem", "net/core/x", "a", "a-b_c.d", "net.ipv4.conf.eth0/5.x"}) {
    EXPECT_TRUE(IsSysctlName(name)) << name;
  }
  for (const char* name : {"", ".", "a.", ".a", "a..b", "a b", "A.b", "a_.b", "_a", "a.*"}) {
    EXPECT_FALSE(IsSysctlName(name)) << name;
  }
  EXPECT_TRUE(IsSysctlName(std::string(253, 'a')));
  EXPECT_FALSE(IsSysctlName(std::string(254, 'a')));
}

TEST(SysctlTest, SlashesBecomeDots) {
  EXPECT_EQ(DottedSysctl("net/ipv4/conf/eth0.5/x"), "net.ipv4.conf.eth0/5.x");
  EXPECT_EQ(DottedSysctl("net.ipv4.conf.eth0/5.x"), "net.ipv4.conf.eth0/5.x");
  EXPECT_EQ(DottedSysctl("x"), "x");
}

TEST(SysctlTest, PatternsHaveNamespaceOnlyIfAllTheirMatchesHaveIt) {
  for (const char* name : {"net.core.x", "net.*", "net.core.*"}) {
    EXPECT_EQ(NamespaceOfSysctl(name), SysctlNamespace::kNet) << name;
  }
  for (const char* name :
       {"kernel.sem", "kernel.shmmax", "kernel.shm*", "kernel.msg*", "fs.mqueue.*"}) {
    EXPECT_EQ(NamespaceOfSysctl(name), SysctlNamespace::kIpc) << name;
  }
  for (const char* name : {"", "*", "net", "net*", "network.x", "kernel.*", "kernel.s*",
                           "kernel.sem*", "kernel.sem2", "fs.mqueue", "fs.*", "vm.swappiness"}) {
    EXPECT_EQ(NamespaceOfSysctl(name), SysctlNamespace::kNone) << name;
  }
}

}  // namespace
}  // namespace cox::validation
