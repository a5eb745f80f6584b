// SPDX-License-Identifier: Apache-2.0
#include "proxy/health.h"

#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "proxy/node_watch.h"

namespace cox::proxy {
namespace {

TEST(ProxyHealthTest, FailsIfChangesArePendingTooLongOrNodeIsNotEligible) {
  TestClock clock;
  MetricsRegistry registry;
  Metrics metrics(registry);
  ProxyHealth health(clock, metrics);
  const auto ask = [&](const char* path) {
    net::Request request;
    request.target = path;
    return health.Answer(request).status;
  };
  EXPECT_EQ(ask("/healthz"), 503) << "nothing is programmed yet";
  health.Queued();
  health.Updated();
  EXPECT_EQ(ask("/healthz"), 200);
  EXPECT_EQ(ask("/other"), 404);
  health.Queued();
  clock.Advance(std::chrono::seconds(59));
  EXPECT_EQ(ask("/healthz"), 200);
  clock.Advance(std::chrono::seconds(2));
  EXPECT_EQ(ask("/healthz"), 503);
  EXPECT_EQ(ask("/livez"), 503);
  health.Updated();
  health.SetEligible(false);
  EXPECT_EQ(ask("/healthz"), 503) << "load balancers are to go elsewhere";
  EXPECT_EQ(ask("/livez"), 200) << "but there is nothing to restart";
}

TEST(ProxyHealthTest, ServiceIsHealthyWithLocalEndpoints) {
  EXPECT_EQ(RespondWithServiceHealth({"default", "web"}, 2, true).status, 200);
  EXPECT_EQ(RespondWithServiceHealth({"default", "web"}, 0, true).status, 503);
  EXPECT_EQ(RespondWithServiceHealth({"default", "web"}, 2, false).status, 503);
}

TEST(NodeFactsTest, ReadsZoneAddressesAndEligibility) {
  core::v1::Node node;
  node.metadata.labels = {{"topology.kubernetes.io/zone", "z1"}};
  node.status.addresses = {{.type = "Hostname", .address = "a"},
                           {.type = "InternalIP", .address = "10.0.0.1"},
                           {.type = "InternalIP", .address = "fd00::1"},
                           {.type = "ExternalIP", .address = "203.0.113.1"}};
  const NodeFacts facts = PodFactsOf(node);
  EXPECT_EQ(facts.zone, "z1");
  ASSERT_EQ(facts.addresses.size(), 2);
  EXPECT_EQ(facts.addresses[1].ToString(), "fd00::1");
  EXPECT_TRUE(facts.eligible);
  node.spec.taints.push_back({.key = "ToBeDeletedByClusterAutoscaler", .effect = "NoSchedule"});
  EXPECT_FALSE(PodFactsOf(node).eligible);
}

}  // namespace
}  // namespace cox::proxy
