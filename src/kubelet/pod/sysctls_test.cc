// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod/sysctls.h"

#include <gtest/gtest.h>

#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using testing::MakePod;

std::string Check(const std::string& name, const std::vector<std::string>& unsafe = {},
                  const std::string& more = "") {
  return ForbiddenSysctl(MakePod(R"({"securityContext":{"sysctls":[{"name":")" + name +
                                 R"(","value":"1"}]})" + more + "}"),
                         unsafe)
      .value_or("");
}

TEST(SysctlsTest, OnlySafeSysctlsAreAllowed) {
  EXPECT_EQ(ForbiddenSysctl(MakePod("{}"), {}), std::nullopt);
  for (const char* name :
       {"kernel.shm_rmid_forced", "net.ipv4.tcp_syncookies", "net/ipv4/tcp_syncookies",
        "net.ipv4.ping_group_range", "net.ipv4.tcp_rmem"}) {
    EXPECT_EQ(Check(name), "") << name;
  }
  for (const char* name :
       {"kernel.msgmax", "kernel.core_pattern", "kernel/core_pattern", "vm.swappiness",
        "net.core.somaxconn", "net.ipv4.tcp_syncookies2", "fs.mqueue.msg_max", "",
        "net.ipv4.tcp_syncookies.x", "Kernel.shm_rmid_forced"}) {
    EXPECT_EQ(Check(name), "forbidden sysctl: \"" + std::string(name) + "\" not allowlisted");
  }
}

TEST(SysctlsTest, UnsafeSysctlsAreAllowedByNameOrPrefix) {
  const std::vector<std::string> unsafe = {"kernel.msg*", "net.core.somaxconn", "net/ipv4/route/*"};
  for (const char* name : {"kernel.msgmax", "kernel/msgmax", "kernel.msg", "net.core.somaxconn",
                           "net.ipv4.route.min_pmtu"}) {
    EXPECT_EQ(Check(name, unsafe), "") << name;
  }
  for (const char* name : {"kernel.sem", "net.core.somaxconn2", "net.ipv4.routes"}) {
    EXPECT_NE(Check(name, unsafe), "") << name;
  }
}

TEST(SysctlsTest, NodeNamespacesAreNotChanged) {
  EXPECT_EQ(Check("net.ipv4.tcp_syncookies", {}, R"(,"hostNetwork":true)"),
            "forbidden sysctl: \"net.ipv4.tcp_syncookies\" not allowed with host net enabled");
  EXPECT_EQ(Check("kernel.shm_rmid_forced", {}, R"(,"hostIPC":true)"),
            "forbidden sysctl: \"kernel.shm_rmid_forced\" not allowed with host ipc enabled");
  EXPECT_EQ(Check("net/core/somaxconn", {"net.core.*"}, R"(,"hostNetwork":true)"),
            "forbidden sysctl: \"net/core/somaxconn\" not allowed with host net enabled");
  EXPECT_EQ(Check("net.ipv4.tcp_syncookies", {}, R"(,"hostIPC":true)"), "");
}

TEST(SysctlsTest, OnlySysctlsOfPodsCanBeAllowed) {
  const std::vector<std::string> good[] = {
      {},
      {"kernel.msg*", "kernel.shmmax", "kernel.sem", "fs.mqueue.*", "net.*", "net.ipv4.tcp_*"},
      {"net/core/x"}};
  for (const auto& patterns : good) EXPECT_TRUE(CheckUnsafeSysctls(patterns).ok());
  for (const char* pattern : {"*", "kernel.*", "kernel.s*", "kernel.core_pattern", "vm.*", "",
                              "net", "net..x", ".net.x", "net.x y", "kernel.sem*", "fs.*"}) {
    EXPECT_FALSE(CheckUnsafeSysctls(std::vector<std::string>{pattern}).ok()) << pattern;
  }
}

}  // namespace
}  // namespace cox::kubelet
