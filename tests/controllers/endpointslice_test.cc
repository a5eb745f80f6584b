// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/endpointslice_controller.h"

#include <gmock/gmock.h>

#include "api/discovery/v1.h"
#include "service_fixture.h"

namespace cox::controllers {
namespace {

using core::v1::Pod;
using core::v1::Service;
using discovery::v1::EndpointSlice;
using testing::SizeIs;

class EndpointSliceTest : public ServiceTest {
 protected:
  // Waits until `holds` is true for all slices together.
  List<EndpointSlice> Slices(const std::function<bool(const List<EndpointSlice>&)>& holds) {
    auto informer = manager->cache().InformerOf<EndpointSlice>();
    const auto read = [&] {
      List<EndpointSlice> slices;
      for (const auto& slice : manager->cache().ListerOf<EndpointSlice>().List("default")) {
        slices.push_back(*slice);
      }
      return slices;
    };
    const Status held =
        testkit::WaitForCache(*ctx, informer.shared(), [&] { return holds(read()); });
    EXPECT_TRUE(held.ok()) << held.ToString();
    return read();
  }
  static size_t Count(const List<EndpointSlice>& slices, bool ready) {
    size_t count = 0;
    for (const EndpointSlice& slice : slices) {
      for (const auto& endpoint : slice.endpoints) count += endpoint.conditions.ready == ready;
    }
    return count;
  }
};

TEST_F(EndpointSliceTest, SlicesFollowPods) {
  CreateNode("n1", "zone-a");
  CreateService("web");
  CreatePod("web-0", "10.0.0.1", true);
  Start({AddEndpointSliceController});
  auto slices = Slices([](const auto& all) { return Count(all, true) == 1; });
  ASSERT_THAT(slices, SizeIs(1));
  const EndpointSlice& slice = slices[0];
  EXPECT_EQ(*slice.metadata.labels.Get("kubernetes.io/service-name"), "web");
  EXPECT_EQ(slice.addressType, "IPv4");
  ASSERT_THAT(slice.ports, SizeIs(1));
  EXPECT_EQ(slice.ports[0].port, 8080);
  EXPECT_EQ(slice.endpoints[0].zone, "zone-a");
  EXPECT_EQ(slice.endpoints[0].nodeName, "n1");
  EXPECT_EQ(slice.endpoints[0].targetRef->name, "web-0");
  EXPECT_TRUE(
      slice.metadata.annotations.contains("endpoints.kubernetes.io/last-change-trigger-time"));
  EXPECT_TRUE(slice.metadata.name.starts_with("web-"));
  EXPECT_EQ(slice.metadata.ownerReferences.at(0).kind, "Service");

  CreatePod("web-1", "10.0.0.2", true);
  slices = Slices([](const auto& all) { return Count(all, true) == 2; });
  EXPECT_THAT(slices, SizeIs(1));  // the existing slice was filled
  SetReady("web-1", false);
  Slices([](const auto& all) { return Count(all, true) == 1 && Count(all, false) == 1; });
  Relabel("web-1", "other");
  Slices([](const auto& all) { return Count(all, true) + Count(all, false) == 1; });
  DeleteNow("web-0");
  slices = Slices([](const auto& all) { return Count(all, true) + Count(all, false) == 0; });
  EXPECT_THAT(slices, SizeIs(1));  // the placeholder
}

TEST_F(EndpointSliceTest, AtMostHundredEndpointsPerSlice) {
  CreateNode("n1", "");
  CreateService("web");
  for (int i = 0; i < 150; ++i) {
    CreatePod("web-" + std::to_string(i), "10.0.1." + std::to_string(i), true);
  }
  Start({AddEndpointSliceController});
  const auto slices = Slices([](const auto& all) { return Count(all, true) == 150; });
  EXPECT_THAT(slices, SizeIs(2));
  for (const EndpointSlice& slice : slices) EXPECT_LE(slice.endpoints.size(), 100u);
}

TEST_F(EndpointSliceTest, PodIsPublishedWhenItsNodeExists) {
  CreateService("web");
  CreatePod("web-0", "10.0.0.1", true);
  Start({AddEndpointSliceController});
  Slices([](const auto& all) { return all.size() == 1; });
  CreateNode("n1", "zone-b");
  const auto slices = Slices([](const auto& all) { return Count(all, true) == 1; });
  EXPECT_EQ(slices[0].endpoints[0].zone, "zone-b");
}

TEST_F(EndpointSliceTest, SlicesOfOtherManagersAreNotChanged) {
  CreateNode("n1", "");
  Service external;
  external.metadata = {.name = "by-hand", .namespace_ = "default"};
  external.spec.ports = {{.name = "http", .protocol = "TCP", .port = 80}};
  Create(external);
  EndpointSlice mine;
  mine.metadata = {.name = "by-hand-1",
                   .namespace_ = "default",
                   .labels = {{"kubernetes.io/service-name", "by-hand"}}};
  mine.addressType = "IPv4";
  discovery::v1::Endpoint endpoint;
  endpoint.addresses = {"192.0.2.1"};
  mine.endpoints = {endpoint};
  Create(mine);
  CreateService("web");
  CreatePod("web-0", "10.0.0.1", true);
  Start({AddEndpointSliceController});
  const auto slices =
      Slices([](const auto& all) { return all.size() == 2 && Count(all, true) == 1; });
  for (const EndpointSlice& slice : slices) {
    if (slice.metadata.name == "by-hand-1") {
      EXPECT_EQ(slice.metadata.generation, 1);
    }
  }
}

}  // namespace
}  // namespace cox::controllers
