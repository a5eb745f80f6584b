// SPDX-License-Identifier: Apache-2.0
#include "object/core/host_ports.h"

#include <gtest/gtest.h>

namespace cox::core_rules {
namespace {

TEST(HostPortsTest, ConflictOnOneAddressOrOnAll) {
  const HostPort all{"0.0.0.0", "TCP", 80};
  const HostPort one{"10.0.0.1", "TCP", 80};
  const HostPort two{"10.0.0.2", "TCP", 80};
  EXPECT_TRUE(Conflict(all, one));
  EXPECT_TRUE(Conflict(one, all));
  EXPECT_TRUE(Conflict(one, one));
  EXPECT_FALSE(Conflict(one, two));
  EXPECT_FALSE(Conflict(all, {"0.0.0.0", "UDP", 80}));
  EXPECT_FALSE(Conflict(all, {"0.0.0.0", "TCP", 81}));
}

TEST(HostPortsTest, AnyConflictComparesAllPorts) {
  const HostPort one{"10.0.0.1", "TCP", 80};
  const HostPort two{"10.0.0.1", "TCP", 81};
  EXPECT_TRUE(AnyConflict({one, two}, {two}));
  EXPECT_FALSE(AnyConflict({one}, {two}));
  EXPECT_FALSE(AnyConflict({}, {two}));
  EXPECT_FALSE(AnyConflict({one}, {}));
}

TEST(HostPortsTest, HostPortsOfMainContainersAndSidecars) {
  core::v1::Pod pod;
  pod.spec.containers.push_back(
      {.name = "main",
       .ports = {{.hostPort = 80, .containerPort = 8080},
                 {.containerPort = 81},
                 {.hostPort = 53, .containerPort = 53, .protocol = "UDP", .hostIP = "10.0.0.1"}}});
  pod.spec.initContainers.push_back({.name = "first", .ports = {{.hostPort = 82}}});
  pod.spec.initContainers.push_back(
      {.name = "beside", .ports = {{.hostPort = 83}}, .restartPolicy = "Always"});
  const std::vector<HostPort> expected = {
      {"0.0.0.0", "TCP", 80}, {"10.0.0.1", "UDP", 53}, {"0.0.0.0", "TCP", 83}};
  EXPECT_EQ(HostPortsOf(pod), expected);
}

}  // namespace
}  // namespace cox::core_rules
