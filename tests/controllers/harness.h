// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "api/core/v1.h"
#include "apiserver/registry/served/registry.h"
#include "apiserver/testing/runtime_kind.h"
#include "base/strings.h"
#include "base/testing/test_clock.h"
#include "late_client.h"
#include "tests/manager_fixture.h"
#include "tests/widgets.h"

namespace cox::controllers {

// Tests of controllers against the real API server in this process. A test creates objects, starts
// the controllers under test and waits for the result.
class ControllerTest : public ManagerFixture {
 public:
  // A controller to add to the manager: a function such as AddJobController, with or without
  // options.
  class Added {
   public:
    template <class Options>
    // NOLINTNEXTLINE(google-explicit-constructor): so that tests can list functions.
    Added(Status (*add)(Manager&, const Options&), Options options = {})
        : add_([add, options = std::move(options)](Manager& manager) {
            return add(manager, options);
          }) {}
    // NOLINTNEXTLINE(google-explicit-constructor): so that tests can list functions.
    Added(Status (*add)(Manager&)) : add_(add) {}

    Status To(Manager& manager) const { return add_(manager); }

   private:
    std::function<Status(Manager&)> add_;
  };

  void SetUp() override { StartCluster(); }

  void Start(std::initializer_list<Added> controllers) {
    const Context root = clock ? Context(*clock) : cluster->context();
    ManagerOptions options;
    options.metric_style = MetricStyle::kComponent;
    ASSERT_NO_FATAL_FAILURE(MakeManager(root, late ? *late : client(), std::move(options)));
    for (const Added& controller : controllers) {
      const Status added = controller.To(*manager);
      ASSERT_TRUE(added.ok()) << added.ToString();
    }
    RunManager();
  }

  Client& client() { return cluster->client(); }
  template <class T>
  T Create(T object) {
    auto created = client().Create(*ctx, std::move(object));
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    return created.ok() ? *std::move(created) : T();
  }
  core::v1::Namespace CreateNamespace(const std::string& name) {
    core::v1::Namespace ns;
    ns.metadata.name = name;
    return Create(std::move(ns));
  }
  // A kind that is added at run time: widgets.example.com, namespaced.
  void ServeWidgets() {
    const Status served =
        cluster->registry().Apply(*ctx, {.put = {apiserver::NewRuntimeKind()}, .remove = {}});
    ASSERT_TRUE(served.ok()) << served.ToString();
  }
  // Returns its UID.
  std::string CreateWidget(const ObjectKey& key) {
    const Result<Object> created = client().Create(*ctx, Widgets(), NewWidget(key));
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    return created.ok() ? HeadOf(*created).uid : "";
  }
  template <class T>
  bool Exists(const ObjectKey& key) {
    return client().Get<T>(*ctx, key).ok();
  }

  // The number of objects of this kind that the controllers' cache has returned in lists.
  template <class T>
  double Listed() const {
    return Metric("cache_objects_listed_total{", "kind=\"" + std::string(T::kKind.kind) + "\"");
  }
  double Reconciles(const std::string& controller) const {
    return Metric("controller_runtime_reconcile_total{", "controller=\"" + controller + "\"");
  }
  // Waits until the controller has ended more reconciles than `before`.
  void AwaitReconcile(const std::string& controller, double before) const {
    while (Reconciles(controller) <= before) {
      ASSERT_FALSE(ctx->Done());
      std::this_thread::yield();
    }
  }

  // Advances the controllers' clock until `holds` is true for the object, or for null if it does
  // not exist. The clock is advanced repeatedly, because controllers may start their timers late.
  // REQUIRES: `clock`
  template <class T>
  Result<T> Eventually(const ObjectKey& key, const std::function<bool(const T*)>& holds) {
    while (!ctx->Done()) {
      clock->Advance(std::chrono::seconds(1));
      auto object = client().Get<T>(*ctx, key);
      if (object.ok() ? holds(&*object) : holds(nullptr)) return object;
      std::this_thread::yield();
    }
    return ctx->status();
  }
  template <class T>
  void AwaitGone(const ObjectKey& key) {
    const auto gone = Eventually<T>(key, [](const T* object) { return object == nullptr; });
    EXPECT_TRUE(gone.status().Is(Reason::kNotFound)) << gone.status().ToString();
  }

  // Set before Start: the manager's client.
  std::optional<LateClient> late;
  // Set before Start: the controllers' clock, which the test advances. The server uses real time.
  std::optional<TestClock> clock;
};

}  // namespace cox::controllers
