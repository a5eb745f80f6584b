// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/mutex.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// The manager as one controller sees it: it writes by a client of its own, where it has one, and
// its events carry its own name, as upstream's do. All else is the manager's.
//
// Ownership: it lives as long as anything that was added through it; the manager outlives it.
// Threads: all methods may be called concurrently.
class ControllerView final : public Manager, public std::enable_shared_from_this<ControllerView> {
 public:
  // `client`: null for the manager's.
  ControllerView(Manager& manager, std::string reporter, std::shared_ptr<Client> client);
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
  Context recording_;  // a root: events of the end are sent too
  Mutex mu_;
  std::unique_ptr<EventRecorder> events_ COX_GUARDED_BY(mu_);  // made when somebody wants it
};

}  // namespace cox::controllers
