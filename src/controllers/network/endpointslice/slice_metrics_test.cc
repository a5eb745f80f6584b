// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/slice_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "controllers/network/endpointslice/slice_index.h"

namespace cox::controllers {
namespace {

using core::v1::Service;
using discovery::v1::EndpointSlice;

EndpointSlice SliceOf(const std::string& name, const std::vector<std::string>& addresses) {
  EndpointSlice slice;
  slice.metadata.name = name;
  slice.addressType = "IPv4";
  for (const std::string& address : addresses) {
    discovery::v1::Endpoint endpoint;
    endpoint.addresses = {address};
    slice.endpoints.push_back(std::move(endpoint));
  }
  return slice;
}

Service ServiceNamed(const std::string& name, const std::string& distribution = "") {
  Service service;
  service.metadata.namespace_ = "default";
  service.metadata.name = name;
  if (!distribution.empty()) service.spec.trafficDistribution = distribution;
  return service;
}

class SliceMetricsTest : public testing::Test {
 protected:
  std::string Sample(const std::string& name) const {
    const std::string text = registry_.Render();
    const size_t at = text.find("\nendpoint_slice_controller_" + name + " ");
    if (at == std::string::npos) return "";
    const size_t begin = text.find(' ', at) + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  MetricsRegistry registry_;
  SliceMetrics metrics_{registry_};
  const GroupKey group_{"IPv4", ""};
};

TEST_F(SliceMetricsTest, TotalsAreSumsOverAllServices) {
  metrics_.Synced(ServiceNamed("a"), {{group_, 250}}, 4, {.added = 250});
  metrics_.Synced(ServiceNamed("b"), {}, 1, {});
  EXPECT_EQ(Sample("endpoints_desired"), "250");
  EXPECT_EQ(Sample("num_endpoint_slices"), "5");
  EXPECT_EQ(Sample("desired_endpoint_slices"), "4");
  metrics_.Synced(ServiceNamed("a"), {{group_, 100}}, 3, {.removed = 150});
  EXPECT_EQ(Sample("endpoints_desired"), "100");
  EXPECT_EQ(Sample("num_endpoint_slices"), "4");
  EXPECT_EQ(Sample("desired_endpoint_slices"), "2");
  metrics_.Forget({"default", "a"});
  metrics_.Forget({"default", "never synced"});
  EXPECT_EQ(Sample("endpoints_desired"), "0");
  EXPECT_EQ(Sample("num_endpoint_slices"), "1");
  EXPECT_EQ(Sample("endpoints_added_per_sync_sum"), "250");
  EXPECT_EQ(Sample("endpoints_added_per_sync_count"), "3");
  EXPECT_EQ(Sample("endpoints_removed_per_sync_sum"), "150");
}

TEST_F(SliceMetricsTest, ServicesAreCountedByTrafficDistribution) {
  const std::string name = "services_count_by_traffic_distribution{traffic_distribution=";
  metrics_.Synced(ServiceNamed("a", "PreferClose"), {}, 1, {});
  metrics_.Synced(ServiceNamed("b", "PreferSameNode"), {}, 1, {});
  metrics_.Synced(ServiceNamed("c"), {}, 1, {});
  EXPECT_EQ(Sample(name + "\"PreferClose\"}"), "1");
  EXPECT_EQ(Sample(name + "\"PreferSameNode\"}"), "1");
  metrics_.Synced(ServiceNamed("a", "PreferSameNode"), {}, 1, {});
  metrics_.Synced(ServiceNamed("b", "example.com/new"), {}, 1, {});
  EXPECT_EQ(Sample(name + "\"PreferClose\"}"), "0");
  EXPECT_EQ(Sample(name + "\"PreferSameNode\"}"), "1");
  EXPECT_EQ(Sample(name + "\"ImplementationSpecific\"}"), "1");
  metrics_.Forget({"default", "a"});
  EXPECT_EQ(Sample(name + "\"PreferSameNode\"}"), "0");
}

TEST(EndpointChanges, MovedEndpointsAreNeitherAddedNorRemoved) {
  const auto first = std::make_shared<const EndpointSlice>(SliceOf("s1", {"1", "2"}));
  const auto second = std::make_shared<const EndpointSlice>(SliceOf("s2", {"3", "4"}));
  const auto kept = std::make_shared<const EndpointSlice>(SliceOf("s3", {"5"}));
  SlicePlan plan;
  plan.update = {SliceOf("s1", {"1", "3", "6"})};
  plan.create = {SliceOf("s4", {"7", "8"})};
  plan.remove = {second};
  const EndpointChanges changes = ChangesOf({first, second, kept}, plan);
  EXPECT_EQ(changes.added, 3u);    // 6, 7, 8
  EXPECT_EQ(changes.removed, 2u);  // 2, 4
  EXPECT_THAT(changes.by_group, testing::ElementsAre(testing::Pair(GroupOf(*first), 1)));
  EXPECT_EQ(ChangesOf({first}, {}).added, 0u);
}

}  // namespace
}  // namespace cox::controllers
