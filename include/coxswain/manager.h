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
  std::optional<LeaderElectionOptions> leader_election;  // none: leads at once
  // host:port, ":0" for any port, "0" for none. Prometheus text at /metrics.
  std::string metrics_address = ":8080";
  std::string health_address = ":8081";  // /healthz and /readyz, with ?verbose
  // How long work may take to end once it was asked to.
  std::chrono::milliseconds graceful_shutdown{30'000};
  std::string name = "manager";  // in events and as field manager
};

// The response of a health check, or the metrics.
struct Inspection {
  int status = 200;  // of HTTP
  std::string content_type;
  std::string body;
};

// Whatever runs while the manager does. Ends when `ctx` stops.
using Runnable = std::function<Status(Context& ctx)>;

// Runs controllers: one client, one cache, one metrics registry for all of them.
//
// Start, in this order: health and metrics; the caches, which stay warm while another leads;
//   runnables that need no leadership; then, leading, the controllers. It ends in the reverse
//   order: no new keys, reconciles in flight end (for at most graceful_shutdown), events are sent,
//   the Lease is given back.
// Threads: all methods may be called concurrently.
// Errors: Run returns OK when `ctx` was stopped and all ended in time; why leadership was lost
//   (the program then exits, and is started anew); or the first error of a runnable.
class Manager {
 public:
  static Result<std::unique_ptr<Manager>> Create(const Context& ctx, const Config& config,
                                                 ManagerOptions options = {});
  // Over a client that the caller keeps, in process or for tests.
  static Result<std::unique_ptr<Manager>> Create(const Context& ctx, std::shared_ptr<Client> client,
                                                 ManagerOptions options = {});
  virtual ~Manager() = default;

  // Writes are fenced by leadership and in the cache when they return; reads ask the server.
  virtual Client& client() = 0;
  virtual Cache& cache() = 0;
  virtual EventRecorder& events() = 0;
  virtual MetricsRegistry& metrics() = 0;
  virtual const Context& context() const = 0;

  // Before Run or while it runs. BadRequest: something of that name is there; controllers run under
  // their names.
  virtual Status Add(std::string name, Runnable runnable, bool needs_leader_election = true) = 0;
  using Check = std::function<Status(Context& ctx)>;
  virtual void AddHealthCheck(std::string name, Check check) = 0;  // /healthz
  virtual void AddReadyCheck(std::string name, Check check) = 0;   // /readyz
  // Another cluster's client and cache, run with this manager; warm, as its own, before anything
  // that was there at the start of Run. ControllerBuilder::WatchesInformer takes keys from it.
  virtual Result<Cache*> AddCluster(std::string name, std::shared_ptr<Client> client,
                                    CacheOptions options = {}) = 0;

  // Once. Work that did not end in time is named in the error, and waited for by the destructor.
  virtual Status Run(Context& ctx) = 0;

  // The response to GET of /healthz, /livez, /readyz or /metrics, for programs that serve these
  // paths themselves, with TLS or with authorization. None for other paths. May block.
  virtual std::optional<Inspection> Inspect(Context& ctx, std::string_view path,
                                            std::string_view query = {}) = 0;
  // A client like client() that sends with `client`, for example as another user: its writes are
  // fenced by the leadership of the manager, and are in the cache when they return. The manager
  // must outlive it.
  virtual std::unique_ptr<Client> ClientOver(std::shared_ptr<Client> client) = 0;

  virtual bool IsLeader() const = 0;
  virtual uint16_t metrics_port() const = 0;  // 0: none
  virtual uint16_t health_port() const = 0;
};

// main() of an operator: builds a manager as its flags say (--kubeconfig, --namespaces,
// --leader-elect, --metrics-bind-address, --health-probe-bind-address, --v; --help tells all), lets
// `setup` register controllers, and runs until SIGTERM or SIGINT; a second signal ends the program
// at once. Logs to stderr. While it waits it gives back memory that only the start has needed.
// Returns the exit code: 0 stopped as asked, 1 failed, 2 wrong flags; it does not return, and ends
// the program with 1, when the manager failed: leadership may be lost, or work may hang.
struct OperatorOptions {
  std::string name;         // "backup-operator": of the Lease, of the field manager
  std::string description;  // for --help
  ManagerOptions manager;
  std::vector<FlagInfo> flags;  // of the operator's own, besides those above; `setup` reads them
};
using OperatorSetup = std::function<Status(Manager& manager, const Flags& flags)>;
int RunOperator(int argc, char** argv, OperatorOptions options, const OperatorSetup& setup);
inline int RunOperator(int argc, char** argv, OperatorOptions options,
                       const std::function<Status(Manager& manager)>& setup) {
  return RunOperator(argc, argv, std::move(options),
                     [&setup](Manager& manager, const Flags&) { return setup(manager); });
}

}  // namespace cox
