// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpoints/subsets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/testing/test_services.h"
#include "object/type/equal.h"

namespace cox::controllers {
namespace {

using core::v1::EndpointSubset;
using core::v1::Pod;
using core::v1::Service;
using testing::IsEmpty;
using testing::SizeIs;

std::shared_ptr<const Pod> Share(const Pod& pod) { return std::make_shared<const Pod>(pod); }

std::shared_ptr<const Pod> MakePod(int number, bool ready, int32_t port = 8080) {
  Pod pod = WebPod(number);
  pod.spec.containers[0].ports[0].containerPort = port;
  pod.status.conditions[0].status = ready ? "True" : "False";
  return Share(pod);
}

TEST(Subsets, SamePortsShareOneSubset) {
  const auto subsets =
      SubsetsOf(WebService(), {MakePod(2, true), MakePod(1, true), MakePod(3, false)});
  ASSERT_THAT(subsets, SizeIs(1));
  ASSERT_THAT(subsets[0].addresses, SizeIs(2));
  EXPECT_EQ(subsets[0].addresses[0].ip, "10.0.0.1");
  EXPECT_EQ(subsets[0].addresses[0].nodeName, "n1");
  EXPECT_EQ(subsets[0].addresses[0].targetRef->name, "web-1");
  ASSERT_THAT(subsets[0].notReadyAddresses, SizeIs(1));
  EXPECT_EQ(subsets[0].ports.at(0).port, 8080);
}

TEST(Subsets, IndependentOfPodOrder) {
  const auto one =
      SubsetsOf(WebService(), {MakePod(1, true), MakePod(2, true, 9090), MakePod(3, true)});
  const auto other =
      SubsetsOf(WebService(), {MakePod(3, true), MakePod(1, true), MakePod(2, true, 9090)});
  ASSERT_THAT(one, SizeIs(2));
  ASSERT_THAT(other, SizeIs(2));
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(DeepEqual(one[i], other[i]));
}

TEST(Subsets, TerminatingPodsNeedPublishNotReadyAddresses) {
  Pod pod = *MakePod(1, false);
  pod.metadata.deletionTimestamp = Time::FromUnix(1);
  Service service = WebService();
  EXPECT_THAT(SubsetsOf(service, {Share(pod)}), IsEmpty());
  service.spec.publishNotReadyAddresses = true;
  const auto subsets = SubsetsOf(service, {Share(pod)});
  ASSERT_THAT(subsets, SizeIs(1));
  EXPECT_THAT(subsets[0].addresses, SizeIs(1));
}

TEST(Subsets, HeadlessServicesNeedNoPorts) {
  Service service = WebService();
  service.spec.ports.clear();
  EXPECT_THAT(SubsetsOf(service, {MakePod(1, true)}), IsEmpty());
  service.spec.clusterIP = "None";
  EXPECT_THAT(SubsetsOf(service, {MakePod(1, true)}), SizeIs(1));
}

TEST(Subsets, TruncateDropsNotReadyAddressesFirst) {
  List<EndpointSubset> subsets(2);
  subsets[0].addresses.resize(3);
  subsets[0].notReadyAddresses.resize(3);
  subsets[1].addresses.resize(3);
  EXPECT_FALSE(Truncate(subsets, 9));
  EXPECT_TRUE(Truncate(subsets, 7));
  EXPECT_THAT(subsets[0].notReadyAddresses, SizeIs(1));
  EXPECT_TRUE(Truncate(subsets, 2));
  ASSERT_THAT(subsets, SizeIs(1));
  EXPECT_THAT(subsets[0].addresses, SizeIs(2));
}

}  // namespace
}  // namespace cox::controllers
