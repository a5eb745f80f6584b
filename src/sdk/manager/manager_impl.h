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

// A step of the startup and its counterpart in the shutdown.
struct Phase {
  std::string_view name;
  // If it fails, the startup ends. `run` stops when the manager must stop.
  Status (ManagerImpl::*start)(Context& run);
  // Called in reverse order for each phase whose start was called. `limit` stops after
  // graceful_shutdown.
  Status (ManagerImpl::*stop)(Context& limit);
};
// In startup order.
std::span<const Phase> Phases();

class ManagerImpl final : public Manager {
 public:
  ManagerImpl(const Context& ctx, std::unique_ptr<MetricsRegistry> metrics,
              std::shared_ptr<Client> client, ManagerOptions options);
  ~ManagerImpl() override;
  // Creates the components; BadRequest for invalid options.
  Status Prepare();

  Client& client() override { return *writing_; }
  Cache& cache() override { return *cache_; }
  EventRecorder& events() override;
  MetricsRegistry& metrics() override { return *metrics_; }
  const Context& context() const override { return ctx_; }
  Status Add(std::string name, Runnable runnable, bool needs_leader_election) override;
  void AddHealthCheck(std::string name, Check check) override;
  void AddReadyCheck(std::string name, Check check) override;
  void AddMetricsPage(std::string path, std::function<std::string()> render) override;
  Result<Cache*> AddCluster(std::string name, std::shared_ptr<Client> client,
                            CacheOptions options) override;
  Status Run(Context& ctx) override;
  bool IsLeader() const override;
  uint16_t metrics_port() const override { return metrics_port_; }
  uint16_t health_port() const override { return health_port_; }

  std::optional<Inspection> Inspect(Context& ctx, std::string_view path,
                                    std::string_view query) override;
  std::unique_ptr<Client> ClientOver(std::shared_ptr<Client> client) override;

  // Functions of the phases.
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

  // The text of a page of metrics; no value for other paths.
  std::optional<std::string> MetricsPage(std::string_view path);
  Status RunPhases(Context& run);
  void RunLeading(Context& term);
  void FlushEvents(Context limit);
  // The deadline of the shutdown, created on the first call.
  Context& Limit();
  void Fail(Status why);

  Context ctx_;
  const ManagerOptions options_;
  // Root contexts, so that nothing ends before its phase: life_ ends with the manager, caching_ (a
  // child) with the caches and their readers.
  Context life_;
  Context caching_;
  const std::unique_ptr<MetricsRegistry> metrics_;
  const std::vector<MetricHandle> process_metrics_;
  const std::shared_ptr<Client> client_;
  std::unique_ptr<LeaderElector> elector_;  // null: no leader election
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
  std::map<std::string, std::function<std::string()>, std::less<>> pages_ COX_GUARDED_BY(mu_);
  std::unique_ptr<EventRecorder> events_ COX_GUARDED_BY(mu_);  // created on demand
  std::optional<Context> run_ COX_GUARDED_BY(mu_);
  std::optional<Context> limit_ COX_GUARDED_BY(mu_);
  Status failure_ COX_GUARDED_BY(mu_);  // the first failure

  std::unique_ptr<net::Endpoint> health_server_;  // used by the thread in Run
  std::unique_ptr<net::Endpoint> metrics_server_;
  // Last members: runnables use all of the above.
  RunnableGroup always_;
  RunnableGroup leading_;
};

}  // namespace cox::sdk
