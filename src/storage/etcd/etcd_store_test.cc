// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/etcd_store.h"

#include <gtest/gtest.h>

#include <string>

#include "storage/etcd/database_size.h"
#include "storage/testing/contract_test.h"
#include "storage/testing/etcd_server.h"

namespace cox::storage {
namespace {

// One server for all tests of this program; each test uses its own keys.
EtcdServer* SharedServer() {
  static RealClock clock;
  static const std::unique_ptr<EtcdServer> kServer = []() -> std::unique_ptr<EtcdServer> {
    if (!EtcdServer::Available()) return nullptr;
    Context ctx = Context(clock).WithTimeout(std::chrono::seconds(60));
    auto server = EtcdServer::Start(ctx);
    EXPECT_TRUE(server.ok()) << server.status().ToString();
    return server.ok() ? *std::move(server) : nullptr;
  }();
  return kServer.get();
}

class EtcdBackend final : public StoreBackend {
 public:
  explicit EtcdBackend(const EtcdOptions& options)
      : store_(*ConnectEtcd(Context(clock_), options)) {}
  Store& store() override { return *store_; }
  void Pass(std::chrono::seconds /*time*/) override {}  // real time passes by itself

 private:
  RealClock clock_;
  const std::unique_ptr<EtcdStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Etcd, StoreContract,
                         testing::Values(StoreCase{"Etcd",
                                                   []() -> std::unique_ptr<StoreBackend> {
                                                     EtcdServer* server = SharedServer();
                                                     if (server == nullptr) return nullptr;
                                                     return std::make_unique<EtcdBackend>(
                                                         server->ClientOptions());
                                                   }}),
                         CaseName);

TEST(DatabaseSize, IsExportedIfEtcdResponds) {
  EtcdServer* const server = SharedServer();
  if (server == nullptr) GTEST_SKIP() << "there is no etcd";
  RealClock clock;
  Context ctx(clock);
  const auto store = ConnectEtcd(ctx, server->ClientOptions());
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  MetricsRegistry registry;
  const MetricHandle handle = ExportDatabaseSizes(ctx, registry, {store->get()});
  const std::string sample = "\napiserver_storage_size_bytes{storage_cluster_id=\"etcd-0\"} ";
  const std::string text = registry.Render();
  const size_t at = text.find(sample);
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_GT(std::stod(text.substr(at + sample.size())), 4096);
  ctx.Stop();
  EXPECT_EQ(registry.Render().find(sample), std::string::npos);
}

}  // namespace
}  // namespace cox::storage
