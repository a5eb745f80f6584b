// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/slice_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/network/services/service_endpoint.h"

namespace cox::controllers {
namespace {

using core::v1::Service;
using discovery::v1::Endpoint;
using discovery::v1::EndpointSlice;
using testing::IsEmpty;
using testing::SizeIs;

Service MakeService() {
  Service service;
  service.metadata = {.name = "web", .namespace_ = "ns", .uid = "service", .labels = {{"a", "b"}}};
  service.metadata.creationTimestamp = Time::FromUnix(1000);
  service.spec.ipFamilies = {"IPv4"};
  service.spec.clusterIP = "10.96.0.10";
  return service;
}

Endpoint MakeEndpoint(int number) {
  Endpoint endpoint;
  endpoint.addresses = {"10.0." + std::to_string(number / 256) + "." +
                        std::to_string(number % 256)};
  endpoint.conditions.ready = true;
  endpoint.targetRef = core::v1::ObjectReference{.kind = "Pod", .uid = std::to_string(number)};
  return endpoint;
}

EndpointGroups Groups(int first, int last, int32_t port = 80) {
  EndpointGroup group;
  group.ports = {{.name = "", .protocol = "TCP", .port = port}};
  for (int i = first; i < last; ++i) group.endpoints.push_back(MakeEndpoint(i));
  return {{{"IPv4", PortsKey(group.ports)}, group}};
}

// The created slices as the API server stores them.
std::vector<SlicePtr> Stored(const SlicePlan& plan, int first_name = 0) {
  std::vector<SlicePtr> slices;
  for (EndpointSlice slice : plan.create) {
    slice.metadata.name = "web-" + std::to_string(first_name++);
    slices.push_back(std::make_shared<const EndpointSlice>(std::move(slice)));
  }
  return slices;
}

TEST(SlicePlan, NewSlicesAreFilled) {
  const SlicePlan plan = PlanSlices(MakeService(), {}, Groups(0, 250));
  ASSERT_THAT(plan.create, SizeIs(3));
  EXPECT_THAT(plan.create[0].endpoints, SizeIs(100));
  EXPECT_THAT(plan.create[2].endpoints, SizeIs(50));
  EndpointSlice slice = plan.create[0];
  EXPECT_EQ(slice.metadata.generateName, "web-");
  EXPECT_EQ(slice.addressType, "IPv4");
  EXPECT_EQ(slice.metadata.labels["kubernetes.io/service-name"], "web");
  EXPECT_EQ(slice.metadata.labels["endpointslice.kubernetes.io/managed-by"],
            "endpointslice-controller.k8s.io");
  EXPECT_EQ(slice.metadata.labels["a"], "b");
  ASSERT_THAT(slice.metadata.ownerReferences, SizeIs(1));
  EXPECT_EQ(slice.metadata.ownerReferences[0].uid, "service");
}

TEST(SlicePlan, NoWritesWithoutChanges) {
  const auto slices = Stored(PlanSlices(MakeService(), {}, Groups(0, 250)));
  EXPECT_TRUE(PlanSlices(MakeService(), slices, Groups(0, 250)).empty());
}

TEST(SlicePlan, ChangedEndpointNeedsOneUpdate) {
  const auto slices = Stored(PlanSlices(MakeService(), {}, Groups(0, 250)));
  EndpointGroups groups = Groups(0, 250);
  groups.begin()->second.endpoints[120].conditions.ready = false;
  const SlicePlan plan = PlanSlices(MakeService(), slices, groups);
  EXPECT_THAT(plan.create, IsEmpty());
  EXPECT_THAT(plan.remove, IsEmpty());
  ASSERT_THAT(plan.update, SizeIs(1));
  EXPECT_THAT(plan.update[0].endpoints, SizeIs(100));
}

TEST(SlicePlan, NewEndpointsFillSlicesThatAreUpdatedAnyway) {
  const auto slices = Stored(PlanSlices(MakeService(), {}, Groups(0, 250)));
  // Endpoint 0 is removed from the first slice and 250 takes its place; the partly filled slice is
  // not written.
  const SlicePlan plan = PlanSlices(MakeService(), slices, Groups(1, 251));
  ASSERT_THAT(plan.update, SizeIs(1));
  EXPECT_EQ(plan.update[0].metadata.name, "web-0");
  EXPECT_THAT(plan.update[0].endpoints, SizeIs(100));
  EXPECT_THAT(plan.create, IsEmpty());
}

TEST(SlicePlan, NewEndpointsFillExistingSlicesFirst) {
  const auto slices = Stored(PlanSlices(MakeService(), {}, Groups(0, 250)));
  const SlicePlan plan = PlanSlices(MakeService(), slices, Groups(0, 280));
  ASSERT_THAT(plan.update, SizeIs(1));
  EXPECT_THAT(plan.update[0].endpoints, SizeIs(80));
  EXPECT_THAT(plan.create, IsEmpty());
  const SlicePlan more = PlanSlices(MakeService(), slices, Groups(0, 310));
  EXPECT_THAT(more.create, SizeIs(1));  // 60 endpoints do not fit into the 50 free places
  EXPECT_THAT(more.update, IsEmpty());
}

TEST(SlicePlan, EmptySlicesAreRemovedExceptPlaceholder) {
  const auto slices = Stored(PlanSlices(MakeService(), {}, Groups(0, 250)));
  EXPECT_THAT(PlanSlices(MakeService(), slices, Groups(0, 100)).remove, SizeIs(2));
  const SlicePlan plan = PlanSlices(MakeService(), slices, {});
  EXPECT_THAT(plan.remove, SizeIs(2));
  ASSERT_THAT(plan.update, SizeIs(1));
  EXPECT_THAT(plan.update[0].endpoints, IsEmpty());
  EXPECT_THAT(plan.update[0].ports, IsEmpty());
  EXPECT_THAT(PlanSlices(MakeService(), {}, {}).create, SizeIs(1));
}

TEST(SlicePlan, ChangedPortsReuseTheSlice) {
  const auto slices = Stored(PlanSlices(MakeService(), {}, Groups(0, 3)));
  const SlicePlan plan = PlanSlices(MakeService(), slices, Groups(0, 3, 81));
  EXPECT_THAT(plan.create, IsEmpty());
  EXPECT_THAT(plan.remove, IsEmpty());
  ASSERT_THAT(plan.update, SizeIs(1));
  EXPECT_EQ(plan.update[0].ports[0].port, 81);
}

TEST(SlicePlan, LabelsFollowTheService) {
  const auto slices = Stored(PlanSlices(MakeService(), {}, Groups(0, 3)));
  Service service = MakeService();
  service.spec.clusterIP = "None";
  service.metadata.labels["a"] = "c";
  const SlicePlan plan = PlanSlices(service, slices, Groups(0, 3));
  ASSERT_THAT(plan.update, SizeIs(1));
  EXPECT_EQ(plan.update[0].metadata.labels.find("a")->second, "c");
  EXPECT_TRUE(plan.update[0].metadata.labels.contains(kHeadlessLabel));
}

TEST(SlicePlan, TriggerTimeIsEarliestChangedPod) {
  const Service service = MakeService();
  SlicePlan first = PlanSlices(service, {}, Groups(0, 2));
  EXPECT_EQ(TriggerTime(service, {}, first, {}), Time::FromUnix(1000));
  const auto slices = Stored(first);
  std::vector<std::shared_ptr<const core::v1::Pod>> pods;
  for (int i = 0; i < 4; ++i) {
    core::v1::Pod pod;
    pod.metadata.uid = std::to_string(i);
    pod.status.conditions = {
        {.type = "Ready", .status = "True", .lastTransitionTime = Time::FromUnix(2000 + i)}};
    pods.push_back(std::make_shared<const core::v1::Pod>(pod));
  }
  SlicePlan second = PlanSlices(service, slices, Groups(0, 4));
  const Time trigger = TriggerTime(service, slices, second, pods);
  EXPECT_EQ(trigger, Time::FromUnix(2002));
  StampTriggerTime(trigger, second);
  EXPECT_EQ(second.update.at(0).metadata.annotations[kTriggerTimeAnnotation], trigger.ToString());
  StampTriggerTime(Time(), second);
  EXPECT_FALSE(second.update.at(0).metadata.annotations.contains(kTriggerTimeAnnotation));
}

}  // namespace
}  // namespace cox::controllers
