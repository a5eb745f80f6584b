// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/server/server.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "net/tls.h"
#include "storage/store.h"
#include "storage/testing/etcd_server.h"
#include "testkit/cluster/cluster_transport.h"
#include "testkit/test_cluster.h"

namespace cox::testkit {

// A running server.
struct ServerLife {
  explicit ServerLife(const Context& ctx) : connections(ctx.Child()) {}

  Context connections;  // stopped to break all connections
  MetricsRegistry metrics{MetricStyle::kComponent};
  std::unique_ptr<apiserver::ApiServer> server;
};

// The state that survives server restarts.
struct TestCluster::Impl {
  explicit Impl(TestClusterOptions given);
  ~Impl();

  // Creates the store, keys and certificates.
  Status Prepare();
  Status StartServer();
  Status StopServer(Down how);
  Result<std::unique_ptr<ServerLife>> StartOn(storage::Store& on, apiserver::ServerOptions with);

  Secret<std::string> AddToken(std::string user, std::vector<std::string> groups);
  Secret<std::string> AdminToken();
  std::shared_ptr<Transport> AdminTransport();
  std::shared_ptr<Transport> TransportWith(const Secret<std::string>& token);
  Client& AdminClient();
  Config ConfigWith(const Secret<std::string>& token) const;
  std::string Kubeconfig();

  const TestClusterOptions options;
  const std::unique_ptr<Clock> own_clock;  // null: a clock was passed
  Clock& clock;
  RealClock real_clock;  // for other processes
  Context context;
  Context real_context;

  std::unique_ptr<storage::EtcdServer> etcd;  // null: memory store
  std::unique_ptr<storage::Store> store;
  std::unique_ptr<storage::Store> decorated;  // null: the server uses `store`
  std::string signing_key;
  std::string ca_pem;  // empty without HTTPS
  std::shared_ptr<const net::ServerTls> tls;
  const std::shared_ptr<apiserver::LoopbackTokens> tokens =
      std::make_shared<apiserver::LoopbackTokens>();
  const std::shared_ptr<ServerSlot> slot = std::make_shared<ServerSlot>();

  // Used by one thread at a time, the one that starts and stops the server.
  std::unique_ptr<ServerLife> life;  // null: the server is down
  uint16_t port = 0;                 // 0: no listener

  Mutex mu;
  std::optional<Secret<std::string>> admin_token COX_GUARDED_BY(mu);
  std::shared_ptr<Transport> admin_transport COX_GUARDED_BY(mu);
  std::unique_ptr<Client> admin_client COX_GUARDED_BY(mu);

  // Options for a server of this cluster.
  apiserver::ServerOptions MakeOptions() const;

 private:
  Status OpenStore();
  Status MakeCertificates();
};

}  // namespace cox::testkit
