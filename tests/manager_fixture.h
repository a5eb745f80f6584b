// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/context.h"
#include "base/scope.h"
#include "base/strings.h"
#include "coxswain/manager.h"
#include "testkit/test_cluster.h"
#include "testkit/wait.h"

namespace cox {

// Tests of runnables of a manager against the real API server in this process.
//
//   StartCluster();
//   MakeManager(cluster->context(), cluster->client());
//   ASSERT_TRUE(AddScheduler(*manager).ok());
//   RunManager();
//
// Guarantees: after the test, the manager is stopped, which must succeed, before the members of the
//   derived fixture are destroyed, because runnables may use them.
class ManagerFixture : public ::testing::Test {
 public:
  void TearDown() override { StopManager(); }

  // A second call stops the manager and starts a new cluster.
  void StartCluster(testkit::TestClusterOptions options = {}) {
    StopManager();
    ctx.reset();
    auto started = testkit::TestCluster::Start(std::move(options));
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    cluster = *std::move(started);
    ctx.emplace(cluster->context().WithTimeout(std::chrono::seconds(100)));
  }

  // Uses the clock of `root` and has no listeners. `client` outlives the run.
  void MakeManager(const Context& root, Client& client, ManagerOptions options = {}) {
    options.metrics_address = "0";
    options.health_address = "0";
    auto made = Manager::Create(root, std::shared_ptr<Client>(std::shared_ptr<void>(), &client),
                                std::move(options));
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    manager = *std::move(made);
    stop_.emplace(root.Child());
  }
  // Runs the manager in another thread.
  void RunManager() {
    scope_.emplace(cluster->context(), "test");
    ASSERT_TRUE(scope_->Go("manager", [this](Context&) { ended_ = manager->Run(*stop_); }).ok());
  }
  // Does nothing if no manager runs.
  void StopManager() {
    if (scope_) {
      stop_->Stop();
      scope_->Wait();
      scope_->Stop();
      scope_.reset();
      EXPECT_TRUE(ended_.ok()) << ended_.ToString();
    }
    manager.reset();
    stop_.reset();
  }

  // The sum of the manager's metrics whose lines start with `prefix` and contain `label`.
  double Metric(std::string_view prefix, const std::string& label) const {
    double sum = 0;
    const std::string text = manager->metrics().Render();
    for (std::string_view line : Split(text, '\n')) {
      if (!line.starts_with(prefix) || line.find(label) == std::string_view::npos) continue;
      sum += std::strtod(std::string(line.substr(line.rfind(' ') + 1)).c_str(), nullptr);
    }
    return sum;
  }
  // Waits until Metric(prefix, label) is `value`, because counters follow writes.
  void AwaitMetric(std::string_view prefix, const std::string& label, double value) const {
    while (Metric(prefix, label) != value) {
      ASSERT_FALSE(ctx->Done()) << prefix << " is " << Metric(prefix, label);
      std::this_thread::yield();
    }
  }

  std::unique_ptr<testkit::TestCluster> cluster;
  std::optional<Context> ctx;  // of the test, with its timeout
  std::unique_ptr<Manager> manager;

 private:
  std::optional<Context> stop_;  // of the run
  Status ended_;
  std::optional<Scope> scope_;
};

}  // namespace cox
