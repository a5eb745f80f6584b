// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/mutex.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// The manager from the view of one controller: writes go through the controller's client, if it has
// one, and events have the controller's name as source, as in upstream. Everything else is the
// manager's.
//
// Ownership: lives as long as everything that was added through it; the manager outlives it.
// Threads: all methods may be called concurrently.
class ControllerView final : public Manager, public std::enable_shared_from_this<ControllerView> {
 public:
  // `client` is null to use the manager's. `running` is 1 while the controller runs.
  ControllerView(Manager& manager, std::string reporter, std::shared_ptr<Client> client,
                 Gauge& running);
  ~ControllerView() override;

  Client& client() override { return own_client_ ? *own_client_ : manager_.client(); }
  EventRecorder& events() override;
  Status Add(std::string name, Runnable runnable, bool needs_leader_election) override;
  Result<Cache*> AddCluster(std::string name, std::shared_ptr<Client> client,
                            CacheOptions options) override;

  Cache& cache() override { return manager_.cache(); }
  MetricsRegistry& metrics() override { return manager_.metrics(); }
  const Context& context() const override { return manager_.context(); }
  void AddHealthCheck(std::string name, Check check) override {
    manager_.AddHealthCheck(std::move(name), std::move(check));
  }
  void AddReadyCheck(std::string name, Check check) override {
    manager_.AddReadyCheck(std::move(name), std::move(check));
  }
  void AddMetricsPage(std::string path, std::function<std::string()> render) override {
    manager_.AddMetricsPage(std::move(path), std::move(render));
  }
  Status Run(Context& ctx) override { return manager_.Run(ctx); }
  std::optional<Inspection> Inspect(Context& ctx, std::string_view path,
                                    std::string_view query) override {
    return manager_.Inspect(ctx, path, query);
  }
  std::unique_ptr<Client> ClientOver(std::shared_ptr<Client> client) override {
    return manager_.ClientOver(std::move(client));
  }
  bool IsLeader() const override { return manager_.IsLeader(); }
  uint16_t metrics_port() const override { return manager_.metrics_port(); }
  uint16_t health_port() const override { return manager_.health_port(); }

 private:
  Manager& manager_;
  const std::string reporter_;
  const std::shared_ptr<Client> own_client_;
  Gauge& running_;
  Context recording_;  // a root context, so that events are still sent after the stop
  Mutex mu_;
  std::unique_ptr<EventRecorder> events_ COX_GUARDED_BY(mu_);  // created on first use
};

}  // namespace cox::controllers
