// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <thread>

#include "api/core/v1.h"
#include "testkit/test_cluster.h"
#include "testkit/wait.h"

namespace cox::testkit {
namespace {

using testing::HasSubstr;
using testing::Not;
using Time = TestClusterOptions::Time;

std::unique_ptr<TestCluster> StartCluster(TestClusterOptions options = {}) {
  Result<std::unique_ptr<TestCluster>> cluster = TestCluster::Start(std::move(options));
  EXPECT_TRUE(cluster.ok()) << cluster.status().ToString();
  return cluster.ok() ? *std::move(cluster) : nullptr;
}

std::string TextOf(const net::Response& response) {
  std::string text;
  for (const Bytes& piece : response.body) text += piece.view();
  return text;
}

// Status code and body of the response; the error message if there is none.
struct Answer {
  int code = 0;
  std::string text;
};
Answer Ask(Context& ctx, Transport& transport, std::string method, std::string target,
           std::string body = {}) {
  Result<net::Response> response =
      transport.Do(ctx, {.method = std::move(method),
                         .target = std::move(target),
                         .headers = {{"content-type", "application/json"}},
                         .body = std::move(body),
                         .peer = nullptr});
  if (!response.ok()) return {0, response.status().message()};
  return {response->status, TextOf(*response)};
}

std::string ConfigMapNamed(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})";
}
constexpr char kConfigMaps[] = "/api/v1/namespaces/default/configmaps";

TEST(TestClusterTest, StartsQuickly) {
  RealClock clock;
  const Clock::SteadyTime begin = clock.Monotonic();
  const auto cluster = StartCluster();
  ASSERT_NE(cluster, nullptr);
  const Answer answer =
      Ask(cluster->context(), *cluster->transport(), "GET", "/api/v1/namespaces/default");
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(clock.Monotonic() - begin);
  EXPECT_EQ(answer.code, 200) << answer.text;
  std::printf("from nothing to the first answer: %.1f ms\n",
              static_cast<double>(took.count()) / 1e3);
  RecordProperty("start_us", static_cast<int>(took.count()));
  EXPECT_LT(took, std::chrono::seconds(10));
}

TEST(TestClusterTest, RequestsUseTheCompleteServer) {
  const auto cluster = StartCluster();
  ASSERT_NE(cluster, nullptr);
  Context& ctx = cluster->context();
  const auto admin = cluster->transport();
  Answer answer = Ask(ctx, *admin, "POST", kConfigMaps, ConfigMapNamed("a"));
  EXPECT_EQ(answer.code, 201) << answer.text;
  EXPECT_EQ(Ask(ctx, *admin, "POST", kConfigMaps, ConfigMapNamed("a")).code, 409);
  EXPECT_EQ(Ask(ctx, *admin, "POST", kConfigMaps, ConfigMapNamed("NO")).code, 422);
  answer = Ask(ctx, *admin, "GET", "/api/v1/namespaces/default/services/kubernetes");
  EXPECT_THAT(answer.text, HasSubstr("10.0.0.1"));
  EXPECT_EQ(Ask(ctx, *admin, "GET", "/readyz").text, "ok");
  EXPECT_THAT(cluster->metrics(), HasSubstr("apiserver_request_total"));
}

TEST(TestClusterTest, UsersHaveRbacPermissions) {
  const auto cluster = StartCluster();
  ASSERT_NE(cluster, nullptr);
  Context& ctx = cluster->context();
  const auto jane = cluster->TransportFor("jane", {"developers"});
  const Answer refused = Ask(ctx, *jane, "GET", kConfigMaps);
  EXPECT_EQ(refused.code, 403);
  EXPECT_THAT(refused.text, HasSubstr("User \\\"jane\\\" cannot list resource"));
  // Aggregated roles (view, edit) are empty here, because a controller fills them.
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/";
  const auto admin = cluster->transport();
  const Answer role = Ask(ctx, *admin, "POST", rbac + "roles",
                          R"({"metadata":{"name":"reader"},"rules":[{"apiGroups":[""],)"
                          R"("resources":["configmaps"],"verbs":["get","list","watch"]}]})");
  EXPECT_EQ(role.code, 201) << role.text;
  const Answer bound =
      Ask(ctx, *admin, "POST", rbac + "rolebindings",
          R"({"metadata":{"name":"read"},"roleRef":{"apiGroup":"rbac.authorization)"
          R"(.k8s.io","kind":"Role","name":"reader"},"subjects":[{"apiGroup":)"
          R"("rbac.authorization.k8s.io","kind":"Group","name":"developers"}]})");
  EXPECT_EQ(bound.code, 201) << bound.text;
  // The authorizer receives the change by a watch, a moment later.
  Answer allowed = Ask(ctx, *jane, "GET", kConfigMaps);
  for (int i = 0; i < 10'000 && allowed.code == 403; ++i) {
    allowed = Ask(ctx, *jane, "GET", kConfigMaps);
  }
  EXPECT_EQ(allowed.code, 200) << allowed.text;
  EXPECT_EQ(Ask(ctx, *jane, "POST", kConfigMaps, ConfigMapNamed("a")).code, 403);
}

TEST(TestClusterTest, RestartKeepsObjectsVersionsAndUsers) {
  const auto cluster = StartCluster();
  ASSERT_NE(cluster, nullptr);
  Context& ctx = cluster->context();
  const auto admin = cluster->transport();
  ASSERT_EQ(Ask(ctx, *admin, "POST", kConfigMaps, ConfigMapNamed("a")).code, 201);
  const std::string before = Ask(ctx, *admin, "GET", std::string(kConfigMaps) + "/a").text;
  for (const Down how : {Down::kBreak, Down::kDrain}) {
    auto watch = admin->Start(
        ctx, {.method = "GET", .target = std::string(kConfigMaps) + "?watch=1", .peer = nullptr});
    ASSERT_TRUE(watch.ok());
    EXPECT_THAT(std::string((*watch)->Read(ctx)->view()), HasSubstr("ADDED"));
    ASSERT_TRUE(cluster->StopServer(how).ok());
    const Answer down = Ask(ctx, *admin, "GET", "/version");
    EXPECT_EQ(down.code, 0);
    EXPECT_THAT(down.text, HasSubstr("refused"));
    // Events arrive in chunks; then the stream ends as requested.
    Result<Bytes> piece = (*watch)->Read(ctx);
    while (piece.ok() && !piece->empty()) piece = (*watch)->Read(ctx);
    EXPECT_EQ(piece.ok(), how == Down::kDrain);
    if (how == Down::kBreak) {
      EXPECT_TRUE(piece.status().Is(Reason::kServiceUnavailable));
    }
    ASSERT_TRUE(cluster->StartServer().ok());
    EXPECT_EQ(Ask(ctx, *admin, "GET", std::string(kConfigMaps) + "/a").text, before);
  }
  EXPECT_FALSE(cluster->StartServer().ok()) << "it runs already";
}

TEST(TestClusterTest, RequestsDoNotDependOnStoppedClock) {
  const auto cluster = StartCluster({.time = Time::kTest});
  ASSERT_NE(cluster, nullptr);
  Context& ctx = cluster->context();
  const auto admin = cluster->transport();
  ASSERT_EQ(Ask(ctx, *admin, "POST", kConfigMaps, ConfigMapNamed("a")).code, 201);
  EXPECT_THAT(Ask(ctx, *admin, "GET", kConfigMaps).text, HasSubstr("\"name\":\"a\""));
  EXPECT_THAT(Ask(ctx, *admin, "GET", std::string(kConfigMaps) + "/a").text,
              HasSubstr("\"creationTimestamp\":\"2030-01-02T03:04:05Z\""));
  cluster->Advance(std::chrono::hours(1));
  ASSERT_EQ(Ask(ctx, *admin, "POST", kConfigMaps, ConfigMapNamed("b")).code, 201);
  EXPECT_THAT(Ask(ctx, *admin, "GET", std::string(kConfigMaps) + "/b").text,
              HasSubstr("\"creationTimestamp\":\"2030-01-02T04:04:05Z\""));
  EXPECT_TRUE(cluster->Restart(Down::kDrain).ok());
}

TEST(TestClusterTest, ClustersAreIndependent) {
  const auto one = StartCluster();
  const auto other = StartCluster({.time = Time::kTest});
  ASSERT_NE(one, nullptr);
  ASSERT_NE(other, nullptr);
  ASSERT_EQ(Ask(one->context(), *one->transport(), "POST", kConfigMaps, ConfigMapNamed("a")).code,
            201);
  const Answer answer = Ask(other->context(), *other->transport(), "GET", kConfigMaps);
  EXPECT_THAT(answer.text, Not(HasSubstr("\"name\":\"a\"")));
  ASSERT_TRUE(one->StopServer().ok());
  EXPECT_EQ(Ask(other->context(), *other->transport(), "GET", "/readyz").text, "ok");
}

TEST(TestClusterTest, HttpsReturnsTheSameResponses) {
  const auto cluster = StartCluster({.https = true});
  ASSERT_NE(cluster, nullptr);
  Context& ctx = cluster->context();
  auto remote = ConnectTransport(ctx, cluster->config());
  ASSERT_TRUE(remote.ok()) << remote.status().ToString();
  ASSERT_EQ(Ask(ctx, **remote, "POST", kConfigMaps, ConfigMapNamed("a")).code, 201);
  const auto local = cluster->transport();
  for (const char* target :
       {"/api/v1/namespaces/default/configmaps/a", "/api/v1/namespaces/default/configmaps",
        "/api/v1/namespaces/default/configmaps/no", "/apis", "/version", "/nowhere"}) {
    Answer here, there;
    do {  // until no other client's write changed the resourceVersion of the list in between
      here = Ask(ctx, *local, "GET", target);
      there = Ask(ctx, **remote, "GET", target);
    } while (!ctx.Done() && Ask(ctx, *local, "GET", target).text != here.text);
    EXPECT_EQ(here.code, there.code) << target;
    EXPECT_EQ(here.text, there.text) << target;
  }
  auto jane = ConnectTransport(ctx, cluster->ConfigFor("jane"));
  ASSERT_TRUE(jane.ok());
  EXPECT_EQ(Ask(ctx, **jane, "GET", kConfigMaps).code, 403);

  // Address and credentials stay valid after a restart.
  const uint16_t port = cluster->port();
  ASSERT_TRUE(cluster->Restart().ok());
  EXPECT_EQ(cluster->port(), port);
  Answer after = Ask(ctx, **remote, "GET", "/readyz");
  // The first attempt may use the old connection, which is broken.
  if (after.code == 0) after = Ask(ctx, **remote, "GET", "/readyz");
  EXPECT_EQ(after.text, "ok");
}

TEST(TestClusterTest, KubeconfigCanBeParsedAndUsed) {
  const auto cluster = StartCluster({.https = true});
  ASSERT_NE(cluster, nullptr);
  Result<Config> config = ParseKubeconfig(cluster->kubeconfig(), "");
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->server, cluster->config().server);
  auto client = Connect(cluster->context(), *config);
  ASSERT_TRUE(client.ok());
  EXPECT_TRUE((*client)->Get<core::v1::Namespace>(cluster->context(), {"", "default"}).ok());
}

TEST(TestClusterTest, CompactedVersionsAreGone) {
  const auto cluster = StartCluster();
  ASSERT_NE(cluster, nullptr);
  Context& ctx = cluster->context();
  const auto admin = cluster->transport();
  const std::string from_early = std::string(kConfigMaps) + "?watch=1&resourceVersion=2";
  ASSERT_EQ(Ask(ctx, *admin, "POST", kConfigMaps, ConfigMapNamed("a")).code, 201);
  ASSERT_TRUE(cluster->CompactHistory().ok());
  EXPECT_THAT(Ask(ctx, *admin, "GET", from_early).text, HasSubstr("\"code\":410"));
  EXPECT_EQ(Ask(ctx, *admin, "GET", std::string(kConfigMaps) + "/a").code, 200);
}

TEST(TestClusterTest, SecondServerHasSameObjectsAndCanLag) {
  const auto cluster = StartCluster();
  ASSERT_NE(cluster, nullptr);
  Context& ctx = cluster->context();
  auto second = cluster->AddServer();
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  const auto first_way = cluster->transport();
  const auto second_way = (*second)->transport();
  const std::string of_cache = std::string(kConfigMaps) + "?resourceVersion=0";
  ASSERT_EQ(Ask(ctx, *first_way, "POST", kConfigMaps, ConfigMapNamed("a")).code, 201);
  // A consistent list waits for the cache, which is up to date then.
  EXPECT_THAT(Ask(ctx, *second_way, "GET", kConfigMaps).text, HasSubstr("\"name\":\"a\""));
  EXPECT_THAT(Ask(ctx, *second_way, "GET", of_cache).text, HasSubstr("\"name\":\"a\""));
  (*second)->SetLagging(true);
  ASSERT_EQ(Ask(ctx, *first_way, "POST", kConfigMaps, ConfigMapNamed("b")).code, 201);
  EXPECT_THAT(Ask(ctx, *first_way, "GET", kConfigMaps).text, HasSubstr("\"name\":\"b\""));
  EXPECT_THAT(Ask(ctx, *second_way, "GET", of_cache).text, Not(HasSubstr("\"name\":\"b\"")));
  (*second)->SetLagging(false);
  EXPECT_THAT(Ask(ctx, *second_way, "GET", kConfigMaps).text, HasSubstr("\"name\":\"b\""));
}

TEST(TestClusterTest, EtcdStorageIsSupported) {
  auto cluster = TestCluster::Start({.storage = TestClusterOptions::Storage::kEtcd});
  if (cluster.status().Is(Reason::kNotFound)) GTEST_SKIP() << cluster.status().message();
  ASSERT_TRUE(cluster.ok()) << cluster.status().ToString();
  Context& ctx = (*cluster)->context();
  const auto admin = (*cluster)->transport();
  ASSERT_EQ(Ask(ctx, *admin, "POST", kConfigMaps, ConfigMapNamed("a")).code, 201);
  ASSERT_TRUE((*cluster)->Restart().ok());
  EXPECT_EQ(Ask(ctx, *admin, "GET", std::string(kConfigMaps) + "/a").code, 200);
}

// From /proc/self/status: "VmRSS", "Threads".
int64_t StatusField(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1));
  }
  return -1;
}

TEST(TestClusterTest, StoppedClustersLeaveNoThreads) {
  const auto run = [] {
    const auto cluster = StartCluster();
    ASSERT_NE(cluster, nullptr);
    const auto admin = cluster->transport();
    auto watch = admin->Start(cluster->context(),
                              {.method = "GET", .target = "/api/v1/pods?watch=1", .peer = nullptr});
    EXPECT_TRUE(watch.ok());
    ASSERT_TRUE(cluster->Restart().ok());
  };
  RealClock clock;
  Context limit = Context(clock).WithTimeout(std::chrono::seconds(100));
  for (int i = 0; i < 3; ++i) run();  // initializes static state
  const int64_t threads = StatusField("Threads");
  const int64_t memory = StatusField("VmRSS");
  for (int i = 0; i < 17; ++i) run();
  // A joined thread may be visible for a moment longer.
  while (StatusField("Threads") > threads && limit.Sleep(std::chrono::milliseconds(10)).ok()) {
  }
  EXPECT_LE(StatusField("Threads"), threads);
  const int64_t grown = StatusField("VmRSS") - memory;
  std::printf("resident: %lld kB, %lld more after 17 starts\n", static_cast<long long>(memory),
              static_cast<long long>(grown));
  RecordProperty("grown_kb", static_cast<int>(grown));
}

TEST(WaitTest, WaitsForObjectsAndTheirDeletion) {
  const auto cluster = StartCluster();
  ASSERT_NE(cluster, nullptr);
  Context ctx = cluster->context().WithTimeout(std::chrono::seconds(60));
  Client& client = cluster->client();
  const ObjectKey key{"default", "a"};
  std::thread writer([&] {
    core::v1::ConfigMap object;
    object.metadata.name = key.name;
    object.metadata.namespace_ = key.ns;
    Result<core::v1::ConfigMap> written = client.Create(ctx, object);
    ASSERT_TRUE(written.ok()) << written.status().ToString();
    written->data["phase"] = "done";
    EXPECT_TRUE(client.Update(ctx, *written).ok());
  });
  const Result<core::v1::ConfigMap> done =
      WaitFor<core::v1::ConfigMap>(ctx, client, key, [](const core::v1::ConfigMap& object) {
        const std::string* phase = object.data.Get("phase");
        return phase != nullptr && *phase == "done";
      });
  writer.join();
  ASSERT_TRUE(done.ok()) << done.status().ToString();
  EXPECT_EQ(done->metadata.name, "a");
  // The condition is already true.
  EXPECT_TRUE(WaitFor<core::v1::ConfigMap>(ctx, client, key).ok());

  std::thread remover([&] { EXPECT_TRUE(client.Delete<core::v1::ConfigMap>(ctx, key).ok()); });
  EXPECT_TRUE(WaitForDeleted<core::v1::ConfigMap>(ctx, client, key).ok());
  remover.join();
  EXPECT_TRUE(WaitForDeleted<core::v1::ConfigMap>(ctx, client, key).ok());
}

TEST(ClientForTest, ClientHasTheIdentityOfTheUser) {
  const auto cluster = StartCluster();
  ASSERT_NE(cluster, nullptr);
  Context& ctx = cluster->context();
  EXPECT_TRUE(cluster->client().Get<core::v1::Namespace>(ctx, {"", "default"}).ok());
  const auto jane = cluster->ClientFor("jane");
  const Status refused = jane->Get<core::v1::Namespace>(ctx, {"", "default"}).status();
  EXPECT_TRUE(refused.Is(Reason::kForbidden)) << refused.ToString();
}

}  // namespace
}  // namespace cox::testkit
