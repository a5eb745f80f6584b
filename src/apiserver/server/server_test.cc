// SPDX-License-Identifier: Apache-2.0
#include "apiserver/server/server.h"

#include <gtest/gtest.h>

#include <fstream>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/service/alloc/repair.h"
#include "apiserver/registry/kinds/core/service/alloc/stored.h"
#include "base/testing/test_clock.h"
#include "storage/memory/memory_store.h"

namespace cox::apiserver {
namespace {

class ServerTest : public ::testing::Test {
 protected:
  // Stores a Service as a server leaves it that crashed before it recorded the address.
  void Store(const std::string& name, const std::string& ip) {
    core::v1::Service service;
    service.metadata.namespace_ = "ns";
    service.metadata.name = name;
    service.spec.type = "ClusterIP";
    service.spec.clusterIP = ip;
    service.spec.clusterIPs = {ip};
    ASSERT_TRUE(
        store_->Create(ctx_, "/registry/services/specs/ns/" + name, EncodeStored(service)).ok());
  }
  bool Recorded(const std::string& ip) {
    return store_->Get(ctx_, "/registry/ipaddresses/" + ip)->kv.has_value();
  }
  std::unique_ptr<ApiServer> Start() {
    ServerOptions options;
    options.listen.bind_address = "127.0.0.1";
    options.service_cluster_ip_ranges = {"10.96.0.0/16"};
    Result<std::unique_ptr<ApiServer>> server = ApiServer::Start(
        ctx_, std::move(options),
        [this](std::string_view, std::string_view) -> storage::Store& { return *store_; },
        metrics_);
    EXPECT_TRUE(server.ok()) << server.status().message();
    return server.ok() ? std::move(*server) : nullptr;
  }

  TestClock clock_;
  Context ctx_{clock_};
  const std::unique_ptr<storage::Store> store_ = storage::NewMemoryStore(clock_);
  MetricsRegistry metrics_;
};

TEST_F(ServerTest, RepairsServiceAllocationsBeforeReadinessAndPeriodically) {
  Store("early", "10.96.0.5");
  std::unique_ptr<ApiServer> server = Start();
  ASSERT_NE(server, nullptr);
  ASSERT_TRUE(server->WaitReady(ctx_).ok());
  EXPECT_TRUE(Recorded("10.96.0.5"));

  Store("late", "10.96.0.6");
  EXPECT_FALSE(Recorded("10.96.0.6"));
  // The repair runs on a separate thread, which may not be waiting yet when the clock advances.
  for (int i = 0; !Recorded("10.96.0.6") && i < 1000; ++i) {
    clock_.WaitForWaiters(1);
    clock_.Advance(ServiceRepair::kInterval);
  }
  EXPECT_TRUE(Recorded("10.96.0.6"));
}

TEST_F(ServerTest, WritesBootstrapObjects) {
  std::unique_ptr<ApiServer> server = Start();
  ASSERT_NE(server, nullptr);
  ASSERT_TRUE(server->WaitReady(ctx_).ok());
  for (std::string_view key :
       {"/registry/namespaces/default", "/registry/namespaces/kube-system",
        "/registry/priorityclasses/system-node-critical", "/registry/servicecidrs/kubernetes"}) {
    EXPECT_TRUE(store_->Get(ctx_, key)->kv.has_value()) << key;
  }
}

TEST_F(ServerTest, InvalidOptionsAreRejected) {
  ServerOptions options;
  options.listen.bind_address = "127.0.0.1";
  options.authentication.token_file = testing::TempDir() + "/no_tokens.csv";
  std::ofstream(options.authentication.token_file) << "no,token";
  Result<std::unique_ptr<ApiServer>> server = ApiServer::Start(
      ctx_, options, [this](auto, auto) -> storage::Store& { return *store_; }, metrics_);
  ASSERT_FALSE(server.ok());
  EXPECT_NE(server.status().message().find("line 1"), std::string::npos);
}

}  // namespace
}  // namespace cox::apiserver
