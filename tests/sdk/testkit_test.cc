// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "testkit/test_cluster.h"

namespace cox::testkit {
namespace {

using testing::HasSubstr;
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

// The answer's code and body; the error's text where there is none.
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

TEST(TestClusterTest, IsThereInAnInstant) {
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

TEST(TestClusterTest, RequestsMeetTheWholeServer) {
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

TEST(TestClusterTest, UsersMayDoWhatRbacSays) {
  const auto cluster = StartCluster();
  ASSERT_NE(cluster, nullptr);
  Context& ctx = cluster->context();
  const auto jane = cluster->TransportFor("jane", {"developers"});
  const Answer refused = Ask(ctx, *jane, "GET", kConfigMaps);
  EXPECT_EQ(refused.code, 403);
  EXPECT_THAT(refused.text, HasSubstr("User \\\"jane\\\" cannot list resource"));
  const Answer bound =
      Ask(ctx, *cluster->transport(), "POST",
          "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
          R"({"metadata":{"name":"view"},"roleRef":{"apiGroup":"rbac.authorization)"
          R"(.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"apiGroup":)"
          R"("rbac.authorization.k8s.io","kind":"Group","name":"developers"}]})");
  EXPECT_EQ(bound.code, 201) << bound.text;
  EXPECT_EQ(Ask(ctx, *jane, "GET", kConfigMaps).code, 200);
  EXPECT_EQ(Ask(ctx, *jane, "POST", kConfigMaps, ConfigMapNamed("a")).code, 403);
}

TEST(TestClusterTest, ARestartKeepsObjectsVersionsAndUsers) {
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
    // Events come in pieces; then the end, as it was asked for.
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

TEST(TestClusterTest, NothingWaitsForAClockThatStandsStill) {
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

TEST(TestClusterTest, ClustersDoNotTouchEachOther) {
  const auto one = StartCluster();
  const auto other = StartCluster({.time = Time::kTest});
  ASSERT_NE(one, nullptr);
  ASSERT_NE(other, nullptr);
  ASSERT_EQ(Ask(one->context(), *one->transport(), "POST", kConfigMaps, ConfigMapNamed("a")).code,
            201);
  const Answer answer = Ask(other->context(), *other->transport(), "GET", kConfigMaps);
  EXPECT_THAT(answer.text, testing::Not(HasSubstr("\"name\":\"a\"")));
  ASSERT_TRUE(one->StopServer().ok());
  EXPECT_EQ(Ask(other->context(), *other->transport(), "GET", "/readyz").text, "ok");
}

}  // namespace
}  // namespace cox::testkit
