// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"
#include "coxswain/manager.h"
#include "net/endpoint.h"
#include "sdk/manager/health_checks.h"
#include "sdk/manager/runnable_group.h"

namespace cox::sdk {

class ManagerImpl;

// A step of the start, and its counterpart at the end.
struct Phase {
  std::string_view name;
  // Not OK: the start ends here. `run` stops when the manager is to.
  Status (ManagerImpl::*start)(Context& run);
  // Called, the last phase first, for those whose start was called. `limit` stops when patience is
  // at its end.
  Status (ManagerImpl::*stop)(Context& limit);
};
// In the order of the start.
std::span<const Phase> Phases();

class ManagerImpl final : public Manager {
 public:
  ManagerImpl(const Context& ctx, std::unique_ptr<MetricsRegistry> metrics,
              std::shared_ptr<Client> client, ManagerOptions options);
  ~ManagerImpl() override;
  // Makes the parts; BadRequest for options that make no sense.
  Status Prepare();

  Client& client() override { return *writing_; }
  Cache& cache() override { return *cache_; }
  EventRecorder& events() override;
  MetricsRegistry& metrics() override { return *metrics_; }
  const Context& context() const override { return ctx_; }
  Status Add(std::string name, Runnable runnable, bool needs_leader_election) override;
  void AddHealthCheck(std::string name, Check check) override;
  void AddReadyCheck(std::string name, Check check) override;
  Result<Cache*> AddCluster(std::string name, std::shared_ptr<Client> client,
                            CacheOptions options) override;
  Status Run(Context& ctx) override;
  bool IsLeader() const override;
  uint16_t metrics_port() const override { return metrics_port_; }
  uint16_t health_port() const override { return health_port_; }

  std::optional<Inspection> Inspect(Context& ctx, std::string_view path,
                                    std::string_view query) override;
  std::unique_ptr<Client> ClientOver(std::shared_ptr<Client> client) override;

  // The phases.
  Status StartHealth(Context& run);
  Status StopHealth(Context& limit);
  Status StartMetrics(Context& run);
  Status StopMetrics(Context& limit);
  Status WarmCaches(Context& run);
  Status StopCaches(Context& limit);
  Status StartRunnables(Context& run);
  Status StopRunnables(Context& limit);
  // Blocks: campaigns and leads until `run` stops or leadership is lost.
  Status Lead(Context& run);
  Status StopLeading(Context& limit);

 private:
  struct Cluster {
    std::shared_ptr<Client> client;
    std::unique_ptr<Cache> cache;
  };

  Status RunPhases(Context& run);
  void RunLeading(Context& term);
  void FlushEvents(Context limit);
  // Of the end: begins when it is first asked for.
  Context& Limit();
  void Fail(Status why);

  Context ctx_;
  const ManagerOptions options_;
  // Roots, so that nothing ends before its phase does: life_ with the manager, caching_ (a child)
  // when caches and what reads them end.
  Context life_;
  Context caching_;
  const std::unique_ptr<MetricsRegistry> metrics_;
  const std::vector<MetricHandle> process_metrics_;
  const std::shared_ptr<Client> client_;
  std::unique_ptr<LeaderElector> elector_;  // null: leads at once
  std::unique_ptr<Client> fenced_;          // null without an elector
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<Client> writing_;
  HealthChecks healthz_{"healthz"};
  HealthChecks readyz_{"readyz"};
  std::atomic<bool> leads_ = false;
  std::atomic<uint16_t> metrics_port_ = 0;
  std::atomic<uint16_t> health_port_ = 0;

  Mutex mu_;
  bool ran_ COX_GUARDED_BY(mu_) = false;
  std::set<std::string> names_ COX_GUARDED_BY(mu_);
  std::map<std::string, Cluster> clusters_ COX_GUARDED_BY(mu_);
  std::unique_ptr<EventRecorder> events_ COX_GUARDED_BY(mu_);  // made when somebody wants it
  std::optional<Context> run_ COX_GUARDED_BY(mu_);
  std::optional<Context> limit_ COX_GUARDED_BY(mu_);
  Status failure_ COX_GUARDED_BY(mu_);  // the first

  std::unique_ptr<net::Endpoint> health_server_;  // of the thread that runs
  std::unique_ptr<net::Endpoint> metrics_server_;
  // Last: what runs uses all of the above.
  RunnableGroup always_;
  RunnableGroup leading_;
};

}  // namespace cox::sdk
