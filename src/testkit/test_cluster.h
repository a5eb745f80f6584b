// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
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

// Tests of operators against the real API server, inside the test's own process.
namespace cox::testkit {

struct TestClusterOptions {
  // kMemory: nothing is written anywhere. kEtcd: a real etcd, found by PATH, on a free port.
  enum class Storage : uint8_t { kMemory, kEtcd };
  Storage storage = Storage::kMemory;
  // kReal: the computer's. kTest: a TestClock, which stands still until Advance(). Whoever has a
  // clock already passes that; it outlives the cluster.
  enum class Time : uint8_t { kReal, kTest };
  Time time = Time::kReal;
  Clock* clock = nullptr;
  // Listens on the loopback too, with certificates of a CA of its own: for clients of other
  // processes (see kubeconfig()), and where the way over a socket is what is tested.
  bool https = false;
  // Asked in order, as --authorization-mode. Admins (system:masters) may do everything with any.
  std::vector<std::string> authorization = {"RBAC"};
  // As --enable-admission-plugins and --disable-admission-plugins. ServiceAccount is off: it wants
  // a `default` account in each namespace, which a controller makes that is not here. Enable it to
  // have it.
  std::vector<std::string> enable_admission_plugins;
  std::vector<std::string> disable_admission_plugins;
  Logger log;  // of the server; says nothing by default
  // Whatever else a server can be told. Called at each start.
  std::function<void(apiserver::ServerOptions&)> tune;
};

// How a server goes down. kBreak: as when it is killed: connections break, requests in flight end
// as Unavailable. kDrain: requests are answered, watches end in peace.
enum class Down : uint8_t { kBreak, kDrain };

// One more API server of a cluster, as behind a load balancer: the same objects, a watch cache of
// its own.
//
// Threads: all methods may be called concurrently.
// Ownership: ends before the cluster.
class SecondServer {
 public:
  virtual ~SecondServer() = default;
  // As admin. FaultyTransport can send single requests here (Fault::other).
  virtual std::shared_ptr<Transport> transport() = 0;
  // While true it hears of no change: watches are silent, lists of version "0" are of the past.
  // What happened meanwhile comes when it is false again.
  virtual void SetLagging(bool lagging) = 0;
};

// A cluster that consists of an API server: ready within milliseconds, gone with the object.
//
//   COX_ASSIGN_OR_RETURN(auto cluster, testkit::TestCluster::Start());
//   Client& admin = cluster->client();
//   auto user = cluster->ClientFor("jane", {"developers"});     // may what RBAC says
//   auto cache = Cache::Create(cluster->context(), admin, {});
//   COX_RETURN_IF_ERROR(cluster->Restart());                    // watches break, objects stay
//
// It is the API server of the product over a store in memory, called without a socket: chain,
// authentication, RBAC, admission, validation, watch cache are all there. What is not there are
// controllers, scheduler and nodes: Pods stay Pending, owned objects are not collected.
//
// Guarantees: when Start returns, requests are answered and the objects that every cluster has are
//   there. Clusters of one process share nothing. No answer waits for the clock: with a TestClock
//   that stands still all works, only timeouts, bookmarks and expiry wait for Advance().
// Threads: all methods may be called concurrently, but for those that start and stop the server.
// Ownership: clients, transports and caches that use the cluster end before it.
// Errors: Unavailable of clients while the server is down; of Start what a server says of its
//   options, and NotFound where etcd is wanted and not installed.
class TestCluster {
 public:
  static Result<std::unique_ptr<TestCluster>> Start(TestClusterOptions options = {});
  ~TestCluster();
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  // By the cluster's clock; stops when the cluster ends.
  Context& context();
  Clock& clock();
  // Moves the time of a cluster that has a TestClock (its own or one that was passed): see there.
  void Advance(Clock::Duration by);
  TestClock& test_clock();

  // In structs, as an admin (system:masters).
  Client& client();
  // As that user of those groups (system:authenticated comes by itself), who may do what RBAC
  // says.
  std::unique_ptr<Client> ClientFor(std::string user, std::vector<std::string> groups = {});
  // The same without structs.
  std::shared_ptr<Transport> transport();
  std::shared_ptr<Transport> TransportFor(std::string user, std::vector<std::string> groups = {});

  // How clients reach it by HTTPS; the credentials are good as long as the cluster lives, also
  // after a restart. REQUIRES: TestClusterOptions::https
  Config config();
  Config ConfigFor(std::string user, std::vector<std::string> groups = {});
  // The same as admin, as a file for kubectl and its like.
  std::string kubeconfig();
  uint16_t port() const;

  // Ends the server and starts one on the same store (and port): versions go on, watches do not.
  Status Restart(Down how = Down::kBreak);
  // The two halves of Restart. Unavailable while it is down: connection refused.
  Status StopServer(Down how = Down::kBreak);
  Status StartServer();

  // On the same store, in this process only.
  Result<std::unique_ptr<SecondServer>> AddServer();

  // The kinds that the server serves, to add others. Valid until the server stops.
  apiserver::Registry& registry();
  // Where the objects are, to look beneath the server.
  storage::Store& store();
  // Makes every resource version before now too old to watch or list from, as etcd's compaction
  // does in time: clients that come back with one are told 410. Restarts the server (kBreak), which
  // remembers more than its store does.
  Status ForgetThePast();
  // Of the server, as /metrics has them.
  std::string metrics();

  struct Impl;
  explicit TestCluster(std::unique_ptr<Impl> impl);  // use Start()

 private:
  const std::unique_ptr<Impl> impl_;
};

}  // namespace cox::testkit
