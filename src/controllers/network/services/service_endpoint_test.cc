// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/services/service_endpoint.h"

#include <gtest/gtest.h>

namespace cox::controllers {
namespace {

using core::v1::Pod;
using core::v1::Service;

Pod PodWithPorts() {
  Pod pod;
  pod.metadata = {.name = "web-0", .namespace_ = "default", .uid = "u0"};
  core::v1::Container main;
  main.name = "main";
  main.ports = {{.name = "http", .containerPort = 8080, .protocol = "TCP"},
                {.name = "dns", .containerPort = 53, .protocol = "UDP"}};
  core::v1::Container sidecar;
  sidecar.name = "proxy";
  sidecar.restartPolicy = "Always";
  sidecar.ports = {{.name = "admin", .containerPort = 9901, .protocol = "TCP"}};
  core::v1::Container init;
  init.name = "init";
  init.ports = {{.name = "once", .containerPort = 1, .protocol = "TCP"}};
  pod.spec.containers = {main};
  pod.spec.initContainers = {sidecar, init};
  pod.status.phase = "Running";
  pod.status.podIP = "10.0.0.1";
  pod.status.podIPs = {{.ip = "10.0.0.1"}, {.ip = "fd00::1"}};
  return pod;
}

TEST(ServiceEndpoint, FindsPortsByNumberAndByName) {
  struct Case {
    IntOrString target;
    std::string protocol;
    std::optional<int32_t> port;
  };
  for (const Case& c : {
           Case{81, "TCP", 81},
           Case{"http", "TCP", 8080},
           Case{"http", "UDP", std::nullopt},  // the protocol must match
           Case{"dns", "UDP", 53},
           Case{"admin", "TCP", 9901},         // sidecars are included
           Case{"once", "TCP", std::nullopt},  // other init containers are not
           Case{"none", "TCP", std::nullopt},
       }) {
    core::v1::ServicePort port;
    port.protocol = c.protocol;
    port.targetPort = c.target;
    EXPECT_EQ(TargetPort(PodWithPorts(), port), c.port) << c.target.ToString() << c.protocol;
  }
}

TEST(ServiceEndpoint, AddressesByFamily) {
  Pod pod = PodWithPorts();
  EXPECT_EQ(AddressOf(pod, "IPv4"), "10.0.0.1");
  EXPECT_EQ(AddressOf(pod, "IPv6"), "fd00::1");
  pod.status.podIPs.clear();
  EXPECT_EQ(AddressOf(pod, "IPv4"), "10.0.0.1");
  EXPECT_EQ(AddressOf(pod, "IPv6"), "");
}

TEST(ServiceEndpoint, PublishesRunningPodsWithAddress) {
  Pod pod = PodWithPorts();
  EXPECT_TRUE(IsPublished(pod, false));
  pod.metadata.deletionTimestamp = Time::FromUnix(1);
  EXPECT_FALSE(IsPublished(pod, false));
  EXPECT_TRUE(IsPublished(pod, true));
  pod.status.phase = "Succeeded";
  EXPECT_FALSE(IsPublished(pod, true));
  pod = PodWithPorts();
  pod.status.podIP.clear();
  pod.status.podIPs.clear();
  EXPECT_FALSE(IsPublished(pod, true));
}

TEST(ServiceEndpoint, HostnameNeedsMatchingSubdomain) {
  Pod pod = PodWithPorts();
  pod.spec.hostname = "web-0";
  pod.spec.subdomain = "web";
  Service service;
  service.metadata = {.name = "web", .namespace_ = "default"};
  EXPECT_EQ(HostnameOf(pod, service), "web-0");
  service.metadata.name = "other";
  EXPECT_EQ(HostnameOf(pod, service), "");
}

TEST(ServiceEndpoint, ExternalNameAndSelectorlessServicesHaveNoEndpoints) {
  Service service;
  service.spec.type = "ClusterIP";
  EXPECT_FALSE(HasEndpoints(service));
  service.spec.selector["app"] = "web";
  EXPECT_TRUE(HasEndpoints(service));
  service.spec.type = "ExternalName";
  EXPECT_FALSE(HasEndpoints(service));
}

}  // namespace
}  // namespace cox::controllers
