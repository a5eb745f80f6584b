// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/endpoint_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/testing/test_services.h"

namespace cox::controllers {
namespace {

using core::v1::Pod;
using core::v1::Service;
using discovery::v1::Endpoint;
using testing::SizeIs;

std::optional<std::string> InZoneA(const std::string& node) {
  return node == "n1" ? std::optional<std::string>("a") : std::nullopt;
}

EndpointGroups Group(const Service& service, const List<Pod>& pods) {
  std::vector<std::shared_ptr<const Pod>> shared;
  for (const Pod& pod : pods) shared.push_back(std::make_shared<const Pod>(pod));
  return GroupEndpoints(service, shared, InZoneA);
}
Endpoint Only(const Service& service, const Pod& pod) {
  const EndpointGroups groups = Group(service, {pod});
  EXPECT_THAT(groups, SizeIs(1));
  if (groups.size() != 1 || groups.begin()->second.endpoints.size() != 1) return {};
  return groups.begin()->second.endpoints.front();
}

TEST(EndpointGroups, EndpointHasAddressNodeZoneAndTarget) {
  const Endpoint endpoint = Only(WebService(), WebPod(1));
  EXPECT_THAT(endpoint.addresses, testing::ElementsAre("10.0.0.1"));
  EXPECT_EQ(endpoint.nodeName, "n1");
  EXPECT_EQ(endpoint.zone, "a");
  ASSERT_TRUE(endpoint.targetRef.has_value());
  EXPECT_EQ(endpoint.targetRef->kind, "Pod");
  EXPECT_EQ(endpoint.targetRef->uid, "uid-1");
  EXPECT_FALSE(endpoint.hostname.has_value());
  EXPECT_FALSE(endpoint.hints.has_value());
}

TEST(EndpointGroups, ConditionsFollowReadinessAndDeletion) {
  struct Case {
    bool ready, deleting, publish_not_ready;
    bool is_ready, is_serving, is_terminating;
  };
  for (const Case& c : {
           Case{true, false, false, true, true, false},
           Case{false, false, false, false, false, false},
           Case{true, true, false, false, true, true},
           Case{false, true, false, false, false, true},
           Case{false, false, true, true, false, false},
           Case{false, true, true, true, false, true},
       }) {
    Service service = WebService();
    service.spec.publishNotReadyAddresses = c.publish_not_ready;
    Pod pod = WebPod(1);
    pod.status.conditions[0].status = c.ready ? "True" : "False";
    if (c.deleting) pod.metadata.deletionTimestamp = Time::FromUnix(1);
    const Endpoint endpoint = Only(service, pod);
    EXPECT_EQ(endpoint.conditions.ready, c.is_ready);
    EXPECT_EQ(endpoint.conditions.serving, c.is_serving);
    EXPECT_EQ(endpoint.conditions.terminating, c.is_terminating);
  }
}

TEST(EndpointGroups, DifferentNumbersOfNamedPortMakeSeparateGroups) {
  Pod other = WebPod(2);
  other.spec.containers[0].ports[0].containerPort = 9090;
  EXPECT_THAT(Group(WebService(), {WebPod(1), other, WebPod(3)}), SizeIs(2));
}

TEST(EndpointGroups, OneGroupPerAddressFamily) {
  Service service = WebService();
  service.spec.ipFamilies = {"IPv4", "IPv6"};
  Pod pod = WebPod(1);
  pod.status.podIPs.push_back({.ip = "fd00::1"});
  const EndpointGroups groups = Group(service, {pod, WebPod(2)});
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_THAT(groups.at({"IPv4", groups.begin()->first.second}).endpoints, SizeIs(2));
  EXPECT_THAT(groups.at({"IPv6", groups.begin()->first.second}).endpoints, SizeIs(1));
}

TEST(EndpointGroups, PodsOfUnknownNodesNeedPublishNotReadyAddresses) {
  Service service = WebService();
  Pod pod = WebPod(1);
  pod.spec.nodeName = "new";
  EXPECT_THAT(Group(service, {pod}), SizeIs(0));
  service.spec.publishNotReadyAddresses = true;
  EXPECT_THAT(Group(service, {pod}), SizeIs(1));
}

TEST(EndpointGroups, HintsFollowTrafficDistribution) {
  Service service = WebService();
  service.spec.trafficDistribution = "PreferClose";
  Endpoint endpoint = Only(service, WebPod(1));
  ASSERT_TRUE(endpoint.hints.has_value());
  EXPECT_EQ(endpoint.hints->forZones.at(0).name, "a");
  EXPECT_THAT(endpoint.hints->forNodes, SizeIs(0));
  service.spec.trafficDistribution = "PreferSameNode";
  endpoint = Only(service, WebPod(1));
  ASSERT_TRUE(endpoint.hints.has_value());
  EXPECT_EQ(endpoint.hints->forNodes.at(0).name, "n1");
}

}  // namespace
}  // namespace cox::controllers
