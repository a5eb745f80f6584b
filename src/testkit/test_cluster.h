// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/testing/test_clock.h"
#include "coxswain/client.h"
#include "coxswain/config.h"
#include "coxswain/transport.h"

namespace cox::apiserver {
class Registry;
struct ServerOptions;
}  // namespace cox::apiserver
namespace cox::storage {
class Store;
}

// Tests of operators against the real API server, in the process of the test.
namespace cox::testkit {

struct TestClusterOptions {
  // kMemory: nothing is persisted. kEtcd: a real etcd, searched in PATH, on a free port.
  enum class Storage : uint8_t { kMemory, kEtcd };
  Storage storage = Storage::kMemory;
  // kReal: the system clock. kTest: a TestClock, which only moves with Advance(). A test with its
  // own clock passes it in `clock`; it must outlive the cluster.
  enum class Time : uint8_t { kReal, kTest };
  Time time = Time::kReal;
  Clock* clock = nullptr;
  // Also listens on the loopback interface, with certificates of its own CA: for clients in other
  // processes (see kubeconfig()) and for tests that need a socket.
  bool https = false;
  // In order, like --authorization-mode. system:masters may do everything in all modes.
  std::vector<std::string> authorization = {"RBAC"};
  // Like --enable-admission-plugins and --disable-admission-plugins. ServiceAccount is disabled by
  // default: it needs a `default` ServiceAccount in each namespace, which a controller creates that
  // does not run here.
  std::vector<std::string> enable_admission_plugins;
  std::vector<std::string> disable_admission_plugins;
  // Returns a decorator of the store for the server, for example one with a limited capacity.
  // Called once. Objects that bypass the server use the store itself.
  std::function<std::unique_ptr<storage::Store>(storage::Store& store)> decorate_store;
  Logger log;  // of the server; silent by default
  // Changes other server options. Called at each start.
  std::function<void(apiserver::ServerOptions&)> tune;
};

// How a server stops. kBreak: like a killed process: connections break, requests in flight fail
// with Unavailable. kDrain: requests are completed, watches are closed cleanly.
enum class Down : uint8_t { kBreak, kDrain };

// An additional API server of a cluster, as behind a load balancer: the same store, but its own
// watch cache.
//
// Threads: all methods may be called concurrently.
// Ownership: must be destroyed before the cluster.
class SecondServer {
 public:
  virtual ~SecondServer() = default;
  // A transport for the admin user. FaultyTransport can redirect requests to it (Fault::other).
  virtual std::shared_ptr<Transport> transport() = 0;
  // While true, it receives no changes: watches are silent, and lists with version "0" are stale.
  // The pending changes are delivered when it becomes false.
  virtual void SetLagging(bool lagging) = 0;
};

// A cluster that consists of an API server only. It starts within milliseconds and stops on
// destruction.
//
//   COX_ASSIGN_OR_RETURN(auto cluster, testkit::TestCluster::Start());
//   Client& admin = cluster->client();
//   auto user = cluster->ClientFor("jane", {"developers"});     // with RBAC permissions
//   auto cache = Cache::Create(cluster->context(), admin, {});
//   COX_RETURN_IF_ERROR(cluster->Restart());                    // watches break, objects stay
//
// It is the production API server over a memory store, called without a socket: handler chain,
// authentication, RBAC, admission, validation and watch cache are included. There are no
// controllers, no scheduler and no nodes: Pods stay Pending, and dependents are not
// garbage-collected.
//
// Guarantees: when Start returns, the server is ready and the objects of every cluster exist.
//   Clusters of one process share no state. No response depends on the clock: with a stopped
//   TestClock, only timeouts, bookmarks and expiry wait for Advance().
// Threads: all methods may be called concurrently, except those that start and stop the server.
// Ownership: clients, transports and caches of the cluster must be destroyed before it.
// Errors: clients get Unavailable while the server is down. Start returns the server's error for
//   invalid options, and NotFound if etcd is not installed.
class TestCluster {
 public:
  static Result<std::unique_ptr<TestCluster>> Start(TestClusterOptions options = {});
  ~TestCluster();
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  // Uses the cluster's clock; stops when the cluster is destroyed.
  Context& context();
  Clock& clock();
  // Advances the TestClock of the cluster (its own or the one that was passed).
  void Advance(Clock::Duration by);
  TestClock& test_clock();

  // Typed client as admin (system:masters).
  Client& client();
  // Client of that user and groups (system:authenticated is added), with RBAC permissions.
  std::unique_ptr<Client> ClientFor(std::string user, std::vector<std::string> groups = {});
  // The same as untyped transports.
  std::shared_ptr<Transport> transport();
  std::shared_ptr<Transport> TransportFor(std::string user, std::vector<std::string> groups = {});

  // Configuration for HTTPS clients; the credentials are valid during the lifetime of the cluster,
  // also after a restart. REQUIRES: TestClusterOptions::https
  Config config();
  Config ConfigFor(std::string user, std::vector<std::string> groups = {});
  // The admin configuration as a file for kubectl and similar tools.
  std::string kubeconfig();
  uint16_t port() const;

  // Stops the server and starts one on the same store (and port): resource versions continue,
  // watches are closed.
  Status Restart(Down how = Down::kBreak);
  // The two steps of Restart. While the server is down: Unavailable, connection refused.
  Status StopServer(Down how = Down::kBreak);
  Status StartServer();

  // Uses the same store, without a port.
  Result<std::unique_ptr<SecondServer>> AddServer();

  // The kinds that the server serves, to add others. Valid until the server stops.
  apiserver::Registry& registry();
  // The store, for access without the API server.
  storage::Store& store();
  // Compacts the store, as etcd does periodically: clients that use an earlier resource version get
  // 410 Gone. Restarts the server (kBreak), because its watch cache contains older versions.
  Status CompactHistory();
  // The metrics of the server in the format of /metrics.
  std::string metrics();
  // The metrics without their values, also those without series. Empty while the server is down.
  std::vector<MetricDescription> DescribeMetrics();

  struct Impl;
  explicit TestCluster(std::unique_ptr<Impl> impl);  // use Start()

 private:
  const std::unique_ptr<Impl> impl_;
};

}  // namespace cox::testkit
