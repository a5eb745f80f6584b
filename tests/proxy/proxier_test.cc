// SPDX-License-Identifier: Apache-2.0
#include "proxy/proxier.h"

#include <gtest/gtest.h>

#include "base/scope.h"
#include "testkit/test_cluster.h"
#include "testkit/wait.h"

// The proxy's loop with the real API server and a fake kernel that counts messages.
namespace cox::proxy {
namespace {

class CountingKernel final : public nft::Committer {
 public:
  Status Commit(const nft::Batch& batch) override {
    if (fail.exchange(false)) return Status::Conflict("refused");
    messages = batch.count();
    if (batch.count() >= whole) there = true;
    ++commits;
    return {};
  }
  bool HasTable(Family /*family*/, std::string_view /*table*/) override { return there; }
  std::atomic<bool> fail = false;
  std::atomic<size_t> messages = 0;
  std::atomic<int> commits = 0;
  std::atomic<size_t> whole = 0;  // messages of a complete table
  std::atomic<bool> there = true;
};

TEST(ProxierTest, ChangeIsOneTransactionAndFailureReplacesTheTable) {
  auto started = testkit::TestCluster::Start();
  ASSERT_TRUE(started.ok()) << started.status().ToString();
  testkit::TestCluster& cluster = **started;
  Context ctx = cluster.context().WithTimeout(std::chrono::seconds(60));
  const auto cache = Cache::Create(cluster.context(), cluster.client(), {});
  CountingKernel kernel;
  MetricsRegistry registry;
  Metrics metrics(registry);
  ProxyHealth health(cluster.clock(), metrics);
  Proxier proxier({.node_name = "a", .families = {Family::kIpv4}}, *cache, kernel, metrics, health);
  testkit::Signal synced;
  proxier.OnSync([&] { synced.Changed(); });
  EXPECT_FALSE(health.Healthy());
  Scope scope(cluster.context(), "test");
  ASSERT_TRUE(scope.Go("proxy", [&](Context& run) { EXPECT_TRUE(proxier.Run(run).ok()); }).ok());
  ASSERT_TRUE(synced.Await(ctx, [&] { return kernel.commits > 0; }).ok());
  const size_t whole = kernel.messages;

  core::v1::Service service;
  service.metadata.namespace_ = "default";
  service.metadata.name = "web";
  service.spec.ports.push_back({.name = "http", .protocol = "TCP", .port = 80});
  const auto made = cluster.client().Create(ctx, service);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  // The cluster IP, and the entry for no endpoints.
  ASSERT_TRUE(synced.Await(ctx, [&] { return kernel.messages == 2; }).ok());

  kernel.fail = true;
  discovery::v1::EndpointSlice slice;
  slice.metadata.namespace_ = "default";
  slice.metadata.name = "web-1";
  slice.metadata.labels = {{"kubernetes.io/service-name", "web"}};
  slice.addressType = "IPv4";
  slice.ports.push_back({.name = "http", .protocol = "TCP", .port = 8080});
  slice.endpoints.resize(1);
  slice.endpoints[0].addresses = {"10.0.0.1"};
  const auto sliced = cluster.client().Create(ctx, slice);
  ASSERT_TRUE(sliced.ok()) << sliced.status().ToString();
  ASSERT_TRUE(synced.Await(ctx, [&] { return kernel.messages > whole; }).ok());
  EXPECT_EQ(metrics.sync_failures.With({"IPv4"}).value(), 1);

  // The node's addresses and zone affect all rules.
  const int commits = kernel.commits;
  proxier.SetNode({.zone = "z1", .addresses = {*Address::Parse("192.168.7.1")}});
  ASSERT_TRUE(synced.Await(ctx, [&] { return kernel.commits > commits; }).ok());
  EXPECT_GT(kernel.messages, whole);

  // Another program flushes the rule set: the table must be written completely.
  kernel.whole = whole;
  kernel.there = false;
  slice.metadata.name = "web-2";
  slice.endpoints[0].addresses = {"10.0.0.2"};
  const auto more = cluster.client().Create(ctx, slice);
  ASSERT_TRUE(more.ok()) << more.status().ToString();
  ASSERT_TRUE(synced.Await(ctx, [&] { return kernel.there.load(); }).ok());
  EXPECT_EQ(metrics.sync_failures.With({"IPv4"}).value(), 1);
  scope.Stop();
  scope.Wait();
}

}  // namespace
}  // namespace cox::proxy
