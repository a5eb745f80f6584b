// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/flags.h"
#include "base/metrics.h"
#include "coxswain/cache.h"
#include "coxswain/client.h"
#include "coxswain/controller.h"
#include "coxswain/event_recorder.h"
#include "coxswain/leader_election.h"

namespace cox {

struct ManagerOptions {
  CacheOptions cache;
  std::optional<LeaderElectionOptions> leader_election;  // none: runs without election
  // host:port, ":0" for any port, "0" to disable. Prometheus text at /metrics.
  std::string metrics_address = ":8080";
  std::string health_address = ":8081";  // /healthz and /readyz, with ?verbose
  // How long runnables may take to end after their context stops.
  std::chrono::milliseconds graceful_shutdown{30'000};
  std::string name = "manager";  // reporting controller of events and field manager
  MetricStyle metric_style = MetricStyle::kOperator;  // labels of shared metrics (workqueue_*)
};

// Response of a health check or of /metrics.
struct Inspection {
  int status = 200;  // HTTP status code
  std::string content_type;
  std::string body;
};

// A function that runs with the manager. Returns when `ctx` stops.
using Runnable = std::function<Status(Context& ctx)>;

// Runs controllers with a shared client, cache and metrics registry.
//
// Start order: health and metrics endpoints; caches, which stay in sync while another process
//   leads; runnables without leader election; then, as leader, the controllers. Shutdown is in
//   reverse order: no new keys are processed, running reconciles finish (within graceful_shutdown),
//   events are sent, the Lease is released.
// Threads: all methods may be called concurrently.
// Errors: Run returns OK if `ctx` stopped and everything ended in time; the reason why leadership
//   was lost (the program should then exit and be restarted); or the first error of a runnable.
class Manager {
 public:
  static Result<std::unique_ptr<Manager>> Create(const Context& ctx, const Config& config,
                                                 ManagerOptions options = {});
  // Uses an existing client, for example an in-process one or a test client.
  static Result<std::unique_ptr<Manager>> Create(const Context& ctx, std::shared_ptr<Client> client,
                                                 ManagerOptions options = {});
  virtual ~Manager() = default;

  // Writes are fenced by leadership and visible in the cache when they return; reads go to the
  // server.
  virtual Client& client() = 0;
  virtual Cache& cache() = 0;
  virtual EventRecorder& events() = 0;
  virtual MetricsRegistry& metrics() = 0;
  virtual const Context& context() const = 0;

  // May be called before or during Run. BadRequest if the name is in use; controllers run under
  // their names.
  virtual Status Add(std::string name, Runnable runnable, bool needs_leader_election = true) = 0;
  using Check = std::function<Status(Context& ctx)>;
  virtual void AddHealthCheck(std::string name, Check check) = 0;  // /healthz
  virtual void AddReadyCheck(std::string name, Check check) = 0;   // /readyz
  // Serves GET `path`, for example "/metrics/resources", where /metrics is served. `render` returns
  // text in Prometheus' format; it is called for each scrape, also concurrently, until the manager
  // is destroyed.
  virtual void AddMetricsPage(std::string path, std::function<std::string()> render) = 0;
  // Adds a client and cache for another cluster that run with this manager. If added before Run,
  // the cache syncs before runnables start. ControllerBuilder::WatchesInformer watches its
  // informers.
  virtual Result<Cache*> AddCluster(std::string name, std::shared_ptr<Client> client,
                                    CacheOptions options = {}) = 0;

  // May be called once. The error names runnables that did not end in time; the destructor waits
  // for them.
  virtual Status Run(Context& ctx) = 0;

  // The response to GET /healthz, /livez, /readyz, /metrics or an added page, for programs that
  // serve these paths themselves, with TLS or authorization. No value for other paths. May block.
  virtual std::optional<Inspection> Inspect(Context& ctx, std::string_view path,
                                            std::string_view query = {}) = 0;
  // A client like client() that sends through `client`, for example as another user. Its writes are
  // fenced by the manager's leadership and visible in the cache when they return. The manager must
  // outlive it.
  virtual std::unique_ptr<Client> ClientOver(std::shared_ptr<Client> client) = 0;

  virtual bool IsLeader() const = 0;
  virtual uint16_t metrics_port() const = 0;  // 0: disabled
  virtual uint16_t health_port() const = 0;
};

// main() of an operator: creates a manager from the flags (--kubeconfig, --namespaces,
// --leader-elect, --metrics-bind-address, --health-probe-bind-address, --v; see --help), calls
// `setup` to register controllers, and runs until SIGTERM or SIGINT; a second signal ends the
// program immediately. Logs to stderr. Returns memory that only the startup needed to the system.
//
// Returns the exit code: 0 after a signal, 1 on failure, 2 for invalid flags. If the manager fails,
// the program exits with 1 without returning, because leadership may be lost or a runnable may
// hang.
struct OperatorOptions {
  std::string name;         // "backup-operator": name of the Lease and field manager
  std::string description;  // for --help
  ManagerOptions manager;
  std::vector<FlagInfo> flags;  // additional flags; `setup` reads them
};
using OperatorSetup = std::function<Status(Manager& manager, const Flags& flags)>;
int RunOperator(int argc, char** argv, OperatorOptions options, const OperatorSetup& setup);
inline int RunOperator(int argc, char** argv, OperatorOptions options,
                       const std::function<Status(Manager& manager)>& setup) {
  return RunOperator(argc, argv, std::move(options),
                     [&setup](Manager& manager, const Flags&) { return setup(manager); });
}

}  // namespace cox
