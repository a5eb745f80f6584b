// SPDX-License-Identifier: Apache-2.0
#include "coxswain/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "base/scope.h"
#include "net/client.h"
#include "object/owner.h"
#include "testkit/test_cluster.h"
#include "testkit/wait.h"

// The manager and its controllers with the real API server in this process.
namespace cox {
namespace {

using core::v1::ConfigMap;
using core::v1::Secret;
using std::chrono::seconds;
using testing::HasSubstr;
using testkit::Signal;
using testkit::TestCluster;
using testkit::WaitFor;
using testkit::WaitForDeleted;

ConfigMap MakeConfigMap(std::string name) {
  ConfigMap map;
  map.metadata.namespace_ = "default";
  map.metadata.name = std::move(name);
  return map;
}

// All clients of a test share the cluster's client.
std::shared_ptr<Client> Borrow(Client& client) { return {std::shared_ptr<void>(), &client}; }

class ManagerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = TestCluster::Start();
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    cluster = *std::move(started);
    ctx.emplace(cluster->context().WithTimeout(seconds(60)));
  }
  void TearDown() override { (void)Stop(); }

  std::unique_ptr<Manager> MakeManager(ManagerOptions options = {}) {
    options.metrics_address = "127.0.0.1:0";
    options.health_address = "127.0.0.1:0";
    auto made = Manager::Create(cluster->context(), Borrow(cluster->client()), std::move(options));
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return *std::move(made);
  }
  void Start(ManagerOptions options = {}) { manager = MakeManager(std::move(options)); }
  void Run() {
    stop.emplace(cluster->context().Child());
    scope.emplace(cluster->context(), "test");
    ASSERT_TRUE(scope
                    ->Go("manager",
                         [this](Context&) {
                           ended = manager->Run(*stop);
                           changed.Changed();
                         })
                    .ok());
  }
  Status Stop() {
    if (scope) {
      stop->Stop();
      scope->Wait();
      scope->Stop();
      scope.reset();
    }
    return ended;
  }
  net::Response Fetch(uint16_t port, const std::string& target) {
    auto client = net::Client::Create(
        cluster->context(), {.host = "127.0.0.1", .port = port, .tls = false, .http2 = false});
    EXPECT_TRUE(client.ok());
    auto response = (*client)->Do(*ctx, {.method = "GET", .target = target, .peer = nullptr});
    EXPECT_TRUE(response.ok()) << response.status().ToString();
    return response.ok() ? *std::move(response) : net::Response();
  }
  static std::string TextOf(const net::Response& response) {
    std::string text;
    for (const Bytes& piece : response.body) text += piece.view();
    return text;
  }

  std::unique_ptr<TestCluster> cluster;
  std::optional<Context> ctx;   // of the test, with its timeout
  std::optional<Context> stop;  // of the run
  std::unique_ptr<Manager> manager;
  Status ended;
  std::atomic<bool> begun = false;  // set when the runnable has started
  Signal changed;
  std::optional<Scope> scope;
};

// Creates a Secret for each ConfigMap, owned by it.
Status AddMirror(Manager& manager) {
  auto maps = manager.cache().ListerOf<ConfigMap>();
  auto secrets = manager.cache().ListerOf<Secret>();
  return ControllerFor<ConfigMap>(manager)
      .Filter(predicates::InNamespace("default"))
      .Owns<Secret>()
      .Complete([=, &manager](Context& run, const ObjectKey& key) -> Result<ReconcileResult> {
        const auto map = maps.Get(key);
        if (map == nullptr || secrets.Get(key) != nullptr) return ReconcileResult::Done();
        Secret secret;
        secret.metadata = {.name = key.name, .namespace_ = key.ns};
        secret.metadata.ownerReferences = {ControllerRef(ConfigMap::kKind, map->metadata)};
        COX_RETURN_IF_ERROR(manager.client().Create(run, std::move(secret)).status());
        if (secrets.Get(key) == nullptr) return Status::Internal("the own write is not there");
        return ReconcileResult::Done();
      });
}

TEST_F(ManagerTest, ControllerReconcilesObjects) {
  Start();
  ASSERT_TRUE(cluster->client().Create(*ctx, MakeConfigMap("before")).ok());
  ASSERT_TRUE(AddMirror(*manager).ok());
  Run();
  EXPECT_TRUE(WaitFor<Secret>(*ctx, cluster->client(), {"default", "before"}).ok());
  ASSERT_TRUE(cluster->client().Create(*ctx, MakeConfigMap("after")).ok());
  EXPECT_TRUE(WaitFor<Secret>(*ctx, cluster->client(), {"default", "after"}).ok());
  // A deleted dependent is recreated.
  const auto secret = cluster->client().Get<Secret>(*ctx, {"default", "after"});
  ASSERT_TRUE(cluster->client().Delete<Secret>(*ctx, {"default", "after"}).ok());
  EXPECT_TRUE(
      WaitFor<Secret>(*ctx, cluster->client(), {"default", "after"}, [&](const Secret& again) {
        return again.metadata.uid != secret->metadata.uid;
      }).ok());
  const Status status = Stop();
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST_F(ManagerTest, ServesHealthAndMetrics) {
  Start();
  ASSERT_TRUE(AddMirror(*manager).ok());
  std::atomic<bool> well = true;
  manager->AddReadyCheck("disk",
                         [&](Context&) { return well ? Status() : Status::Unavailable("full"); });
  ASSERT_TRUE(manager
                  ->Add("signal",
                        [this](Context&) {
                          changed.Changed();
                          return Status();
                        })
                  .ok());
  Run();
  ASSERT_TRUE(changed.Await(*ctx, [&] { return manager->metrics_port() != 0; }).ok());
  EXPECT_EQ(TextOf(Fetch(manager->health_port(), "/healthz")), "ok");
  EXPECT_EQ(TextOf(Fetch(manager->health_port(), "/readyz?verbose")),
            "[+]disk ok\nreadyz check passed\n");
  well = false;
  EXPECT_EQ(Fetch(manager->health_port(), "/readyz").status, 500);
  EXPECT_EQ(Fetch(manager->health_port(), "/metrics").status, 404);
  EXPECT_EQ(Fetch(manager->metrics_port(), "/metrics/more").status, 404);
  manager->AddMetricsPage("/metrics/more", [] { return std::string("more 1\n"); });
  EXPECT_EQ(TextOf(Fetch(manager->metrics_port(), "/metrics/more")), "more 1\n");
  ASSERT_TRUE(manager->Inspect(*ctx, "/metrics/more").has_value());
  EXPECT_EQ(manager->Inspect(*ctx, "/metrics/more")->body, "more 1\n");
  const std::string metrics = TextOf(Fetch(manager->metrics_port(), "/metrics"));
  for (const char* name :
       {R"(controller_runtime_max_concurrent_reconciles{controller="configmap"} 1)",
        R"(workqueue_adds_total{controller="configmap",name="configmap"})",
        "process_resident_memory_bytes"}) {
    EXPECT_THAT(metrics, HasSubstr(name));
  }
}

TEST_F(ManagerTest, FirstErrorOfRunnableStopsAllAndIsReturned) {
  Start();
  ASSERT_TRUE(manager
                  ->Add(
                      "other", [](Context& run) { return run.Sleep(seconds(3600)); }, false)
                  .ok());
  ASSERT_TRUE(manager->Add("weak", [](Context&) { return Status::Internal("broke"); }).ok());
  EXPECT_TRUE(manager->Add("weak", [](Context&) { return Status(); }).Is(Reason::kBadRequest));
  Run();
  scope->Wait();
  EXPECT_THAT(ended.message(), HasSubstr("weak: broke"));
  EXPECT_FALSE(manager->IsLeader());
}

TEST_F(ManagerTest, RunnablesCanBeAddedWhileRunning) {
  Start();
  std::atomic<int> ran = 0;
  ASSERT_TRUE(manager
                  ->Add("first",
                        [&](Context&) {
                          return manager->Add("second", [&](Context&) {
                            ++ran;
                            changed.Changed();
                            return Status();
                          });
                        })
                  .ok());
  Run();
  EXPECT_TRUE(changed.Await(*ctx, [&] { return ran == 1; }).ok());
  EXPECT_TRUE(Stop().ok());
}

TEST_F(ManagerTest, SecondManagerTakesOverWithWarmCache) {
  const LeaderElectionOptions election{.lease = {"default", "pair"}};
  auto first = MakeManager({.leader_election = election});
  auto second = MakeManager({.leader_election = election});
  std::atomic<int> led_by = 0;
  std::atomic<bool> was_warm = false;
  const auto add = [&](Manager& m, int number) {
    auto informer = m.cache().InformerOf<ConfigMap>();
    return m.Add("work", [&, number, informer](Context& run) {
      was_warm = informer.HasSynced();
      led_by = number;
      changed.Changed();
      return run.Sleep(seconds(3600));
    });
  };
  ASSERT_TRUE(add(*first, 1).ok());
  ASSERT_TRUE(add(*second, 2).ok());
  Context stop_first = cluster->context().Child();
  Context stop_second = cluster->context().Child();
  Scope runs(cluster->context(), "runs");
  Status first_ended;
  ASSERT_TRUE(runs.Go("first", [&](Context&) { first_ended = first->Run(stop_first); }).ok());
  ASSERT_TRUE(changed.Await(*ctx, [&] { return led_by == 1; }).ok());
  EXPECT_TRUE(first->IsLeader());
  ASSERT_TRUE(runs.Go("second", [&](Context&) { (void)second->Run(stop_second); }).ok());
  // Only the leader's writes are sent.
  EXPECT_FALSE(second->client().Create(*ctx, MakeConfigMap("refused")).ok());
  EXPECT_TRUE(first->client().Create(*ctx, MakeConfigMap("accepted")).ok());
  stop_first.Stop();
  EXPECT_TRUE(changed.Await(*ctx, [&] { return led_by == 2; }).ok());
  EXPECT_TRUE(was_warm);
  EXPECT_TRUE(second->IsLeader());
  stop_second.Stop();
  runs.Wait();
  runs.Stop();
  EXPECT_TRUE(first_ended.ok()) << first_ended.ToString();
}

TEST_F(ManagerTest, LostLeaseEndsRunWithError) {
  Start({.leader_election = LeaderElectionOptions{.lease = {"default", "lost"}}});
  ASSERT_TRUE(manager
                  ->Add("work",
                        [this](Context& run) {
                          changed.Changed();
                          return run.Sleep(seconds(3600));
                        })
                  .ok());
  Run();
  ASSERT_TRUE(changed.Await(*ctx, [&] { return manager->IsLeader(); }).ok());
  ASSERT_TRUE(cluster->client()
                  .PatchObject(
                      *ctx,
                      Resource::Dynamic({"coordination.k8s.io", "v1", "Lease"}, "leases", true),
                      {"default", "lost"}, Patch::Merge(R"({"spec":{"holderIdentity":"another"}})"))
                  .ok());
  scope->Wait();
  EXPECT_FALSE(ended.ok());
}

TEST_F(ManagerTest, WatchesObjectsOfAnotherCluster) {
  auto other = TestCluster::Start();
  ASSERT_TRUE(other.ok());
  Start();
  const Result<Cache*> cache = manager->AddCluster("other", Borrow((*other)->client()));
  ASSERT_TRUE(cache.ok());
  EXPECT_FALSE(manager->AddCluster("other", Borrow((*other)->client())).ok());
  std::atomic<bool> seen = false;
  ASSERT_TRUE(
      ControllerFor<ConfigMap>(*manager)
          .WatchesInformer((*cache)->Get(Resource::Of<Secret>()),
                           [](const Object& object) {
                             return std::vector<ObjectKey>{{"remote", HeadOf(object).key.name}};
                           })
          .Complete([&](Context&, const ObjectKey& key) -> Result<ReconcileResult> {
            if (key.ToString() == "remote/far") seen = true;
            changed.Changed();
            return ReconcileResult::Done();
          })
          .ok());
  Run();
  Secret secret;
  secret.metadata = {.name = "far", .namespace_ = "default"};
  ASSERT_TRUE((*other)->client().Create(*ctx, secret).ok());
  EXPECT_TRUE(changed.Await(*ctx, [&] { return seen.load(); }).ok());
  EXPECT_TRUE(Stop().ok());
  manager.reset();
}

TEST_F(ManagerTest, RunnablesThatExceedShutdownTimeoutAreNamed) {
  Start({.graceful_shutdown = std::chrono::milliseconds(1)});
  Context released = cluster->context().Child();
  ASSERT_TRUE(manager
                  ->Add("stubborn",
                        [this, released](Context&) {
                          begun = true;
                          changed.Changed();
                          return released.Sleep(seconds(3600));
                        })
                  .ok());
  Run();
  ASSERT_TRUE(changed.Await(*ctx, [&] { return begun.load(); }).ok());
  EXPECT_THAT(Stop().message(), HasSubstr("stubborn"));
  released.Stop();
}

}  // namespace
}  // namespace cox
