// SPDX-License-Identifier: Apache-2.0
#include "kubelet/environment/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::kubelet {
namespace {

using core::v1::Service;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::shared_ptr<const Service> Make(std::string name, std::string ip,
                                    List<core::v1::ServicePort> ports) {
  auto service = std::make_shared<Service>();
  service->metadata.name = std::move(name);
  service->spec.clusterIP = std::move(ip);
  service->spec.ports = std::move(ports);
  return service;
}

TEST(ServicesTest, AllVariablesOfAService) {
  EXPECT_THAT(
      ServiceEnvironment({Make("my-db", "10.1.0.5",
                               {{.name = "sql-main", .protocol = "TCP", .port = 5432},
                                {.protocol = "UDP", .port = 53}})}),
      ElementsAre(
          Pair("MY_DB_SERVICE_HOST", "10.1.0.5"), Pair("MY_DB_SERVICE_PORT", "5432"),
          Pair("MY_DB_SERVICE_PORT_SQL_MAIN", "5432"), Pair("MY_DB_PORT", "tcp://10.1.0.5:5432"),
          Pair("MY_DB_PORT_5432_TCP", "tcp://10.1.0.5:5432"),
          Pair("MY_DB_PORT_5432_TCP_PROTO", "tcp"), Pair("MY_DB_PORT_5432_TCP_PORT", "5432"),
          Pair("MY_DB_PORT_5432_TCP_ADDR", "10.1.0.5"),
          Pair("MY_DB_PORT_53_UDP", "udp://10.1.0.5:53"), Pair("MY_DB_PORT_53_UDP_PROTO", "udp"),
          Pair("MY_DB_PORT_53_UDP_PORT", "53"), Pair("MY_DB_PORT_53_UDP_ADDR", "10.1.0.5")));
}

TEST(ServicesTest, SkipsServicesWithoutClusterIpAndBracketsIpv6) {
  EXPECT_THAT(ServiceEnvironment({Make("a", "None", {{.port = 1}}), Make("b", "", {{.port = 1}}),
                                  Make("c", "10.0.0.1", {})}),
              IsEmpty());
  EXPECT_EQ(ServiceEnvironment({Make("v", "fd00::1", {{.port = 1}})})[2].second,
            "tcp://[fd00::1]:1");
}

}  // namespace
}  // namespace cox::kubelet
