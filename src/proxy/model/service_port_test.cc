// SPDX-License-Identifier: Apache-2.0
#include "proxy/model/service_port.h"

#include <gtest/gtest.h>

namespace cox::proxy {
namespace {

using core::v1::Service;
using discovery::v1::EndpointSlice;

Service MakeService() {
  Service service;
  service.metadata.namespace_ = "default";
  service.metadata.name = "web";
  service.spec.type = "ClusterIP";
  service.spec.clusterIP = "10.96.0.10";
  service.spec.clusterIPs = {"10.96.0.10", "fd00:96::10"};
  service.spec.ports.push_back({.name = "http", .protocol = "TCP", .port = 80});
  return service;
}

struct Given {
  const char* ip;
  const char* node;
  std::optional<bool> ready;
  std::optional<bool> serving;
  std::optional<bool> terminating;
};

std::vector<SlicePtr> Slices(const std::vector<Given>& endpoints, const char* type = "IPv4") {
  EndpointSlice slice;
  slice.addressType = type;
  slice.ports.push_back({.name = "http", .protocol = "TCP", .port = 8080});
  for (const Given& given : endpoints) {
    discovery::v1::Endpoint endpoint;
    endpoint.addresses = {given.ip};
    endpoint.nodeName = given.node;
    endpoint.conditions = {given.ready, given.serving, given.terminating};
    slice.endpoints.push_back(std::move(endpoint));
  }
  return {std::make_shared<const EndpointSlice>(std::move(slice))};
}

std::string Texts(const std::vector<Endpoint>& endpoints) {
  std::string out;
  for (const Endpoint& endpoint : endpoints) {
    out += (out.empty() ? "" : " ") + endpoint.address.ToString() + ":" +
           std::to_string(endpoint.port) + (endpoint.local ? "*" : "");
  }
  return out;
}

TEST(ServicePortTest, SelectsUsableEndpoints) {
  const struct {
    const char* name;
    std::vector<Given> endpoints;
    bool external_local;
    bool internal_local;
    const char* cluster;
    const char* local;
  } kCases[] = {
      {"conditions that are not there mean ready",
       {{"10.0.0.1", "a"}},
       false,
       false,
       "10.0.0.1:8080*",
       ""},
      {"ready ones only",
       {{"10.0.0.1", "a", true}, {"10.0.0.2", "b", false}},
       false,
       false,
       "10.0.0.1:8080*",
       ""},
      {"terminating ones while they serve, if there is no other",
       {{"10.0.0.1", "a", false, true, true}, {"10.0.0.2", "b", false, false, true}},
       false,
       false,
       "10.0.0.1:8080*",
       ""},
      {"but not beside ready ones",
       {{"10.0.0.1", "a", false, true, true}, {"10.0.0.2", "b", true}},
       false,
       false,
       "10.0.0.2:8080",
       ""},
      {"local ones are chosen among themselves",
       {{"10.0.0.1", "a", false, true, true}, {"10.0.0.2", "b", true}},
       true,
       false,
       "10.0.0.2:8080",
       "10.0.0.1:8080*"},
      {"internal Local needs no others",
       {{"10.0.0.1", "a", true}, {"10.0.0.2", "b", true}},
       false,
       true,
       "",
       "10.0.0.1:8080*"},
  };
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.name);
    Service service = MakeService();
    if (test.external_local) {
      service.spec.type = "NodePort";
      service.spec.externalTrafficPolicy = "Local";
      service.spec.ports[0].nodePort = 30080;
    }
    if (test.internal_local) service.spec.internalTrafficPolicy = "Local";
    const auto ports = MakeServicePorts(service, Slices(test.endpoints), Family::kIpv4, {"a", ""});
    ASSERT_EQ(ports.size(), 1);
    EXPECT_EQ(Texts(ports[0].cluster_endpoints), test.cluster);
    EXPECT_EQ(Texts(ports[0].local_endpoints), test.local);
    EXPECT_TRUE(ports[0].any_endpoints);
  }
}

TEST(ServicePortTest, AppliesTopologyHints) {
  struct Hinted {
    const char* ip;
    std::vector<std::string> nodes;
    std::vector<std::string> zones;
    bool ready = true;
  };
  const struct {
    const char* name;
    Placement here;
    std::vector<Hinted> endpoints;
    const char* cluster;
  } kCases[] = {
      {"the zone's own",
       {"a", "z1"},
       {{"10.0.0.1", {}, {"z1"}}, {"10.0.0.2", {}, {"z2"}}},
       "10.0.0.1:8080"},
      {"the node's before the zone's",
       {"b", "z1"},
       {{"10.0.0.1", {"a"}, {"z1"}}, {"10.0.0.2", {"b", "c"}, {"z1"}}},
       "10.0.0.2:8080"},
      {"the zone's where none is the node's",
       {"c", "z1"},
       {{"10.0.0.1", {"a"}, {"z1"}}, {"10.0.0.2", {"b"}, {"z2"}}},
       "10.0.0.1:8080"},
      {"all where none is the zone's",
       {"a", "z3"},
       {{"10.0.0.1", {}, {"z1"}}, {"10.0.0.2", {}, {"z2"}}},
       "10.0.0.1:8080 10.0.0.2:8080"},
      {"all where a hint is missing",
       {"a", "z1"},
       {{"10.0.0.1", {}, {"z1"}}, {"10.0.0.2", {}, {}}},
       "10.0.0.1:8080 10.0.0.2:8080"},
      {"hints of those that are not ready do not count",
       {"a", "z1"},
       {{"10.0.0.1", {}, {"z1"}, false}, {"10.0.0.2", {}, {"z2"}}, {"10.0.0.3", {}, {}, false}},
       "10.0.0.2:8080"},
      {"all where the zone is not known",
       {"a", ""},
       {{"10.0.0.1", {}, {"z1"}}, {"10.0.0.2", {}, {"z2"}}},
       "10.0.0.1:8080 10.0.0.2:8080"},
  };
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.name);
    EndpointSlice slice;
    slice.addressType = "IPv4";
    slice.ports.push_back({.name = "http", .protocol = "TCP", .port = 8080});
    for (const Hinted& given : test.endpoints) {
      discovery::v1::Endpoint& endpoint = slice.endpoints.emplace_back();
      endpoint.addresses = {given.ip};
      endpoint.conditions.ready = given.ready;
      discovery::v1::EndpointHints hints;
      for (const std::string& name : given.nodes) hints.forNodes.push_back({.name = name});
      for (const std::string& name : given.zones) hints.forZones.push_back({.name = name});
      endpoint.hints = hints;
    }
    const auto ports =
        MakeServicePorts(MakeService(), {std::make_shared<const EndpointSlice>(std::move(slice))},
                         Family::kIpv4, test.here);
    ASSERT_EQ(ports.size(), 1);
    EXPECT_EQ(Texts(ports[0].cluster_endpoints), test.cluster);
  }
}

TEST(ServicePortTest, FamiliesHaveSeparateAddresses) {
  const Service service = MakeService();
  const auto slices = Slices({{"fd00::1", "a"}}, "IPv6");
  const auto six = MakeServicePorts(service, slices, Family::kIpv6, {"a", ""});
  ASSERT_EQ(six.size(), 1);
  EXPECT_EQ(six[0].cluster_ip.ToString(), "fd00:96::10");
  EXPECT_EQ(six[0].cluster_endpoints.size(), 1);
  const auto four = MakeServicePorts(service, slices, Family::kIpv4, {"a", ""});
  ASSERT_EQ(four.size(), 1);
  EXPECT_TRUE(four[0].cluster_endpoints.empty());
  EXPECT_FALSE(four[0].any_endpoints);
}

TEST(ServicePortTest, IgnoresHeadlessExternalNameAndOtherProxies) {
  Service headless = MakeService();
  headless.spec.clusterIP = "None";
  headless.spec.clusterIPs = {"None"};
  Service name = MakeService();
  name.spec.type = "ExternalName";
  Service given_away = MakeService();
  given_away.metadata.labels = {{"service.kubernetes.io/service-proxy-name", "other"}};
  for (const Service& service : {headless, name, given_away}) {
    EXPECT_TRUE(MakeServicePorts(service, {}, Family::kIpv4, {"a", ""}).empty());
  }
}

TEST(ServicePortTest, MatchesPortsByNameAndProtocol) {
  Service service = MakeService();
  service.spec.ports.push_back({.name = "http", .protocol = "UDP", .port = 80});
  service.spec.ports.push_back({.name = "admin", .protocol = "TCP", .port = 81});
  const auto ports =
      MakeServicePorts(service, Slices({{"10.0.0.1", "a"}}), Family::kIpv4, {"a", ""});
  ASSERT_EQ(ports.size(), 3);
  EXPECT_EQ(ports[0].cluster_endpoints.size(), 1);
  EXPECT_TRUE(ports[1].cluster_endpoints.empty());
  EXPECT_TRUE(ports[2].cluster_endpoints.empty());
}

TEST(ServicePortTest, LoadBalancerIpsAndSessionAffinity) {
  Service service = MakeService();
  service.spec.type = "LoadBalancer";
  service.spec.sessionAffinity = "ClientIP";
  service.spec.loadBalancerSourceRanges = {"192.0.2.0/24", "fd00::/8"};
  service.status.loadBalancer.ingress.push_back({.ip = "203.0.113.5"});
  service.status.loadBalancer.ingress.push_back({.ip = "203.0.113.6", .ipMode = "Proxy"});
  const auto ports = MakeServicePorts(service, {}, Family::kIpv4, {"a", ""});
  ASSERT_EQ(ports.size(), 1);
  ASSERT_EQ(ports[0].load_balancer_ips.size(), 1);
  EXPECT_EQ(ports[0].load_balancer_ips[0].ToString(), "203.0.113.5");
  EXPECT_TRUE(ports[0].restricted);
  EXPECT_EQ(ports[0].source_ranges.size(), 1);
  EXPECT_EQ(ports[0].affinity_seconds, 10'800);
}

TEST(ServicePortTest, CountsLocalReadyEndpointsOnce) {
  auto slices = Slices({{"10.0.0.1", "a"}, {"10.0.0.2", "a", false}, {"10.0.0.3", "b"}});
  slices.push_back(slices[0]);
  EXPECT_EQ(CountLocalReady(slices, "a"), 1);
}

}  // namespace
}  // namespace cox::proxy
