// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "coxswain/cache.h"
#include "dns/zone/source.h"
#include "dns/zone/zone.h"
#include "testkit/test_cluster.h"
#include "testkit/wait.h"

namespace cox::dns {
namespace {

using core::v1::Service;
using discovery::v1::EndpointSlice;

TEST(DnsClusterTest, NamesFollowServicesAndSlices) {
  auto started = testkit::TestCluster::Start();
  ASSERT_TRUE(started.ok()) << started.status().ToString();
  testkit::TestCluster& cluster = **started;
  Context ctx = cluster.context().WithTimeout(std::chrono::seconds(60));
  const auto cache = Cache::Create(cluster.context(), cluster.client(), {});
  const auto source = MakeCacheSource(*cache);
  const Zone zone({}, *source);
  ASSERT_TRUE(cache->WaitForSync(ctx).ok());
  const std::string name = "db-0.db.default.svc.cluster.local";
  ASSERT_EQ(zone.Resolve(name, kA)->rcode, Rcode::kNxDomain);

  Service service;
  service.metadata.namespace_ = "default";
  service.metadata.name = "db";
  service.spec.clusterIP = "None";
  service.spec.ports.push_back({.name = "sql", .protocol = "TCP", .port = 5432});
  const auto made = cluster.client().Create(ctx, service);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EndpointSlice slice;
  slice.metadata.namespace_ = "default";
  slice.metadata.name = "db-1";
  slice.metadata.labels = {{"kubernetes.io/service-name", "db"},
                           {"service.kubernetes.io/headless", ""}};
  slice.addressType = "IPv4";
  slice.ports.push_back({.name = "sql", .protocol = "TCP", .port = 5432});
  slice.endpoints.resize(1);
  slice.endpoints[0].addresses = {"10.0.0.1"};
  slice.endpoints[0].hostname = "db-0";
  const auto sliced = cluster.client().Create(ctx, slice);
  ASSERT_TRUE(sliced.ok()) << sliced.status().ToString();

  const auto services = cache->Get(Resource::Of<Service>());
  const auto slices = cache->Get(Resource::Of<EndpointSlice>());
  ASSERT_TRUE(testkit::WaitForCache(ctx, *services, [&] {
                return services->Get({"default", "db"}) != nullptr;
              }).ok());
  ASSERT_TRUE(testkit::WaitForCache(ctx, *slices, [&] {
                return slices->Get({"default", "db-1"}) != nullptr;
              }).ok());
  const auto found = zone.Resolve(name, kA);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->answers.size(), 1);
  EXPECT_EQ(found->answers[0].data, std::string("\x0a\0\0\x01", 4));
  EXPECT_EQ(zone.Resolve("1.0.0.10.in-addr.arpa", kPtr)->answers.at(0).target, name);
}

}  // namespace
}  // namespace cox::dns
