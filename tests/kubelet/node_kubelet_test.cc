// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "api/coordination/v1.h"
#include "api/core/v1.h"
#include "api/rbac/v1.h"
#include "coxswain/conditions.h"
#include "coxswain/subresources.h"
#include "kubelet/kubelet.h"
#include "kubelet/node/lease.h"
#include "kubelet/node/node_agent.h"
#include "net/client.h"
#include "runtime/testing/fake_runtime.h"
#include "tests/manager_fixture.h"

// The kubelet as a node, with the real API server in this process: with the node's user, the Node
// authorizer and NodeRestriction.
namespace cox::kubelet {
namespace {

using coordination::v1::Lease;
using core::v1::Node;
using testing::HasSubstr;
using testkit::TestClusterOptions;
using testkit::WaitFor;

constexpr std::string_view kName = "node-1";

std::string ReadyMessage(const Node& node) {
  const auto* ready = FindCondition(node.status.conditions, "Ready");
  return ready == nullptr ? "none" : std::string(ready->status) + " " + ready->message;
}

class NodeTest : public ManagerFixture {
 protected:
  void Start(TestClusterOptions::Time how) {
    TestClusterOptions options;
    options.time = how;
    options.authorization = {"Node", "RBAC"};
    options.enable_admission_plugins = {"NodeRestriction"};
    ASSERT_NO_FATAL_FAILURE(StartCluster(std::move(options)));
    client = cluster->ClientFor("system:node:" + std::string(kName), {"system:nodes"});
    runtime.emplace(cluster->clock());
  }
  static ObjectKey Key() { return {"", std::string(kName)}; }
  Client& admin() { return cluster->client(); }

  std::unique_ptr<Client> client;
  std::optional<runtime::FakeRuntime> runtime;
};

// --- Single steps, with a stopped clock.

class NodeAgentTest : public NodeTest {
 protected:
  void SetUp() override {
    Start(TestClusterOptions::Time::kTest);
    NodeOptions options;
    options.name = kName;
    options.ips = {"192.0.2.7"};
    options.root_dir = "/";
    options.eviction_hard = {};
    options.taints = {{.key = "dedicated", .value = "db", .effect = "NoSchedule"}};
    agent = std::make_unique<NodeAgent>(std::move(options),
                                        NodeAgent::Parts{.client = *client, .runtime = *runtime});
  }
  Node Now() {
    auto node = admin().Get<Node>(cluster->context(), Key());
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return node.ok() ? *node : Node();
  }
  void Sync() {
    const Status synced = agent->Sync(cluster->context());
    EXPECT_TRUE(synced.ok()) << synced.ToString();
  }

  std::unique_ptr<NodeAgent> agent;
};

TEST_F(NodeAgentTest, RegistersAndWritesOnlyChanges) {
  const Status registered = agent->Register(cluster->context());
  ASSERT_TRUE(registered.ok()) << registered.ToString();
  EXPECT_EQ(*Now().metadata.labels.Get("kubernetes.io/hostname"), kName);
  Sync();
  Node node = Now();
  EXPECT_EQ(ReadyMessage(node), "True kubelet is posting ready status");
  EXPECT_EQ(node.status.addresses[0].address, "192.0.2.7");
  EXPECT_GT(node.status.capacity.Get("cpu")->Value(), 0);
  EXPECT_THAT(node.status.nodeInfo.containerRuntimeVersion, HasSubstr("://"));
  const auto taint = std::find_if(node.spec.taints.begin(), node.spec.taints.end(),
                                  [](const auto& one) { return one.key == "dedicated"; });
  EXPECT_NE(taint, node.spec.taints.end());
  // Without changes, nothing is written until the report period ends.
  const std::string version = node.metadata.resourceVersion;
  cluster->Advance(std::chrono::seconds(10));
  Sync();
  EXPECT_EQ(Now().metadata.resourceVersion, version);
  cluster->Advance(std::chrono::minutes(5));
  Sync();
  EXPECT_NE(Now().metadata.resourceVersion, version);
  EXPECT_EQ(FindCondition(Now().status.conditions, "Ready")->lastHeartbeatTime,
            TimeNow(cluster->clock()));
}

TEST_F(NodeAgentTest, RuntimeStatusIsReportedAtOnceButRestartIsIgnored) {
  ASSERT_TRUE(agent->Register(cluster->context()).ok());
  Sync();
  runtime->FailNext("Status", Status::Unavailable("restarting"));
  runtime->FailNext("GetStatus", Status::Unavailable("restarting"));
  cluster->Advance(std::chrono::seconds(10));
  Sync();
  EXPECT_TRUE(IsReady(Now().status));
  runtime->SetStatus(
      {{true, "", ""}, {false, "NetworkPluginNotReady", "cni plugin not initialized"}, {}});
  runtime->Publish("x");
  Sync();
  Sync();
  EXPECT_EQ(ReadyMessage(Now()),
            "False container runtime network not ready: NetworkReady=false "
            "reason:NetworkPluginNotReady message:cni plugin not initialized");
  runtime->SetStatus({{true, "", ""}, {true, "", ""}, {}});
  Sync();
  EXPECT_TRUE(IsReady(Now().status));
}

TEST_F(NodeAgentTest, ExistingNodeIsAdopted) {
  Node earlier;
  earlier.metadata.name = kName;
  earlier.metadata.labels["kubernetes.io/arch"] = "other";
  earlier.metadata.labels["team"] = "a";
  earlier.spec.unschedulable = true;
  ASSERT_TRUE(admin().Create(cluster->context(), earlier).ok());
  const Status registered = agent->Register(cluster->context());
  ASSERT_TRUE(registered.ok()) << registered.ToString();
  EXPECT_NE(*Now().metadata.labels.Get("kubernetes.io/arch"), "other");
  EXPECT_EQ(*Now().metadata.labels.Get("team"), "a");
  EXPECT_TRUE(Now().spec.unschedulable);
  // After the Node is deleted, Sync returns NotFound.
  ASSERT_TRUE(admin().Delete<Node>(cluster->context(), Key()).ok());
  EXPECT_TRUE(agent->Sync(cluster->context()).Is(Reason::kNotFound));
}

TEST_F(NodeAgentTest, LeaseIsRenewed) {
  ASSERT_TRUE(agent->Register(cluster->context()).ok());
  const auto node = std::make_shared<const Node>(Now());
  NodeLease lease(*client, std::string(kName), std::chrono::seconds(40), [&] { return node; });
  const auto renew = [&] {
    const Status renewed = lease.Renew(cluster->context());
    ASSERT_TRUE(renewed.ok()) << renewed.ToString();
  };
  const ObjectKey key{std::string(kLeaseNamespace), std::string(kName)};
  ASSERT_NO_FATAL_FAILURE(renew());
  auto first = admin().Get<Lease>(cluster->context(), key);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->metadata.ownerReferences[0].uid, node->metadata.uid);
  cluster->Advance(std::chrono::seconds(10));
  ASSERT_NO_FATAL_FAILURE(renew());
  auto second = admin().Get<Lease>(cluster->context(), key);
  EXPECT_EQ(*second->spec.renewTime - *first->spec.renewTime, Duration::Seconds(10));
  // Another client has written the Lease: it is read again at once.
  second->metadata.labels["a"] = "b";
  ASSERT_TRUE(admin().Update(cluster->context(), *second).ok());
  ASSERT_NO_FATAL_FAILURE(renew());
  EXPECT_EQ(*admin().Get<Lease>(cluster->context(), key)->metadata.labels.Get("a"), "b");
}

// --- The complete kubelet.

class KubeletTest : public NodeTest {
 protected:
  void SetUp() override {
    Start(TestClusterOptions::Time::kReal);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override {
    StopManager();
    std::filesystem::remove_all(folder);
  }
  void Run() {
    ManagerOptions manager_options;
    manager_options.name = "kubelet";
    ASSERT_NO_FATAL_FAILURE(MakeManager(cluster->context(), *client, std::move(manager_options)));
    KubeletOptions options;
    options.pods.node_name = kName;
    options.pods.node_ips = {"127.0.0.1"};
    options.pods.root_dir = folder + "/root";
    options.pods.pod_logs_dir = folder + "/logs";
    options.pods.cgroups_per_qos = false;
    options.node.eviction_hard = {};
    options.server.address = "127.0.0.1";
    options.server.port = 0;
    options.healthz_address = "0";
    const Status added = AddKubelet(*manager, std::move(options), &*runtime);
    ASSERT_TRUE(added.ok()) << added.ToString();
    RunManager();
  }

  const std::string folder = testing::TempDir() + "node-kubelet";
};

TEST_F(KubeletTest, BecomesReadyAtOnceAndRegistersAgainAfterDeletion) {
  const Clock::SteadyTime begun = cluster->clock().Monotonic();
  ASSERT_NO_FATAL_FAILURE(Run());
  const auto ready = [](const Node& node) { return IsReady(node.status); };
  auto node = WaitFor<Node>(*ctx, admin(), Key(), ready);
  ASSERT_TRUE(node.ok()) << node.status().ToString();
  // Ready at once: the periodic status update would report it only after 10 s.
  EXPECT_LT(cluster->clock().Monotonic() - begun, std::chrono::seconds(8));
  const auto lease =
      WaitFor<Lease>(*ctx, admin(), {std::string(kLeaseNamespace), std::string(kName)});
  ASSERT_TRUE(lease.ok()) << lease.status().ToString();
  EXPECT_EQ(lease->spec.leaseDurationSeconds, 40);
  ASSERT_TRUE(admin().Delete<Node>(*ctx, Key()).ok());
  const std::string first = node->metadata.uid;
  node = WaitFor<Node>(*ctx, admin(), Key(), [&](const Node& is) {
    return is.metadata.uid != first && IsReady(is.status);
  });
  EXPECT_TRUE(node.ok()) << node.status().ToString();
}

// --- Access to its server, authorized by the API server.

TEST_F(KubeletTest, TokensAndRolesAreVerifiedByApiServer) {
  auto authentication = Authentication::Create(*ctx, {}, client.get());
  ASSERT_TRUE(authentication.ok());
  Authorization authorization({}, std::string(kName), client.get());
  core::v1::ServiceAccount account;
  account.metadata.name = "reader";
  account.metadata.namespace_ = "default";
  ASSERT_TRUE(admin().Create(*ctx, account).ok());
  const auto token = CreateToken(*ctx, admin(), {"default", "reader"}, {});
  ASSERT_TRUE(token.ok()) << token.status().ToString();
  rbac::v1::ClusterRole role;
  role.metadata.name = "stats-reader";
  role.rules = {{.verbs = {"get"}, .apiGroups = {""}, .resources = {"nodes/stats", "nodes/pods"}}};
  ASSERT_TRUE(admin().Create(*ctx, role).ok());
  rbac::v1::ClusterRoleBinding binding;
  binding.metadata.name = "stats-reader";
  binding.roleRef = {
      .apiGroup = "rbac.authorization.k8s.io", .kind = "ClusterRole", .name = "stats-reader"};
  binding.subjects = {{.kind = "ServiceAccount", .name = "reader", .namespace_ = "default"}};
  ASSERT_TRUE(admin().Create(*ctx, binding).ok());

  net::Request request;
  request.headers = {{"authorization", "Bearer " + token->status.token}};
  const auto user = (*authentication)->Authenticate(*ctx, request);
  ASSERT_TRUE(user.ok()) << user.status().ToString();
  EXPECT_EQ(user->username, "system:serviceaccount:default:reader");
  request.headers = {{"authorization", "Bearer not-one"}};
  EXPECT_TRUE((*authentication)->Authenticate(*ctx, request).status().Is(Reason::kUnauthorized));

  const auto may = [&](const char* method, const char* path) {
    return authorization.Authorize(*ctx, *user, method, path);
  };
  // The authorizer receives the roles by a watch.
  Status stats = may("GET", "/stats/summary");
  for (int i = 0; i < 200 && !stats.ok(); ++i) {
    Authorization again({}, std::string(kName), client.get());
    stats = again.Authorize(*ctx, *user, "GET", "/stats/summary");
    ASSERT_TRUE(ctx->Sleep(std::chrono::milliseconds(10)).ok());
  }
  EXPECT_TRUE(stats.ok()) << stats.ToString();
  EXPECT_TRUE(may("GET", "/pods").ok());
  EXPECT_TRUE(may("GET", "/metrics").Is(Reason::kForbidden));
  EXPECT_TRUE(may("POST", "/exec/default/web/main").Is(Reason::kForbidden));
}

}  // namespace
}  // namespace cox::kubelet
