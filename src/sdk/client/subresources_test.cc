// SPDX-License-Identifier: Apache-2.0
#include "coxswain/subresources.h"

#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "base/testing/test_clock.h"
#include "sdk/client/metrics.h"
#include "sdk/testing/fake_transport.h"

namespace cox {
namespace {

using sdk::FakeResponse;
using sdk::FakeTransport;

class SubresourcesTest : public testing::Test {
 protected:
  Client& Over(FakeResponse answer) {
    transport_ = std::make_shared<FakeTransport>(std::vector{std::move(answer)});
    client_ = MakeClient(transport_, {.prefer_protobuf = false});
    return *client_;
  }
  net::Request last() const { return transport_->last(); }

  TestClock clock_;
  Context ctx_{clock_};
  std::shared_ptr<FakeTransport> transport_;
  std::unique_ptr<Client> client_;
};

TEST_F(SubresourcesTest, GetAndUpdateScale) {
  Client& client = Over(FakeResponse::Json(
      R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a","namespace":"n"},)"
      R"("spec":{"replicas":3}})"));
  Result<autoscaling::v1::Scale> scale = GetScale<apps::v1::Deployment>(ctx_, client, {"n", "a"});
  ASSERT_TRUE(scale.ok()) << scale.status().ToString();
  EXPECT_EQ(scale->spec.replicas, 3);
  EXPECT_EQ(last().target, "/apis/apps/v1/namespaces/n/deployments/a/scale");
  scale->spec.replicas = 5;
  const Resource sets = Resource::Dynamic({"example.com", "v1", "Set"}, "sets", true);
  ASSERT_TRUE(UpdateScale(ctx_, client, sets, *scale).ok());
  EXPECT_EQ(last().method, "PUT");
  EXPECT_EQ(last().target, "/apis/example.com/v1/namespaces/n/sets/a/scale");
  EXPECT_NE(last().body.find("\"replicas\":5"), std::string::npos);
}

TEST_F(SubresourcesTest, EvictionContainsThePodAndDeleteOptions) {
  Client& client = Over(FakeResponse::Json(
      R"({"kind":"Status","apiVersion":"v1","status":"Success","code":201})", 201));
  ASSERT_TRUE(Evict(ctx_, client, {"n", "p"}, {.grace_period = std::chrono::seconds(3)}).ok());
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(last().target, "/api/v1/namespaces/n/pods/p/eviction");
  EXPECT_EQ(last().body,
            "{\"kind\":\"Eviction\",\"apiVersion\":\"policy/v1\",\"metadata\":{\"name\":\"p\","
            "\"namespace\":\"n\"},\"deleteOptions\":{\"gracePeriodSeconds\":3}}\n");
  Over(FakeResponse::Json(
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests",)"
      R"("code":429,"details":{"causes":[{"reason":"DisruptionBudget"}]}})",
      429));
  const Status refused = Evict(ctx_, *client_, {"n", "p"});
  EXPECT_TRUE(refused.Is(Reason::kTooManyRequests));
  EXPECT_EQ(refused.details().causes.front().type, "DisruptionBudget");
}

TEST_F(SubresourcesTest, CreatesTokensAndBindings) {
  Client& client = Over(FakeResponse::Json(
      R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{"token":"t"}})",
      201));
  const Result<authentication::v1::TokenRequest> token =
      CreateToken(ctx_, client, {"n", "sa"}, {.audiences = {"a"}});
  ASSERT_TRUE(token.ok()) << token.status().ToString();
  EXPECT_EQ(token->status.token, "t");
  EXPECT_EQ(last().target, "/api/v1/namespaces/n/serviceaccounts/sa/token");

  Over(FakeResponse::Json(R"({"kind":"Status","apiVersion":"v1","status":"Success"})", 201));
  ASSERT_TRUE(Bind(ctx_, *client_, {"n", "p"}, "node-1").ok());
  EXPECT_EQ(last().target, "/api/v1/namespaces/n/pods/p/binding");
  EXPECT_NE(last().body.find(R"("target":{"kind":"Node","name":"node-1"})"), std::string::npos);
}

TEST(ClientMetricsTest, HasTheMetricsOfClientGo) {
  TestClock clock;
  Context ctx(clock);
  MetricsRegistry registry;
  const std::shared_ptr<ClientMetrics> metrics = MakeClientMetrics(registry);
  const auto transport = std::make_shared<FakeTransport>(
      std::vector{FakeResponse::Json(R"({"kind":"Pod","apiVersion":"v1"})"),
                  FakeResponse::Fail(Status::Unavailable("reset"))});
  for (const char* host : {"https://one:6443/path", "https://two"}) {
    const auto client =
        MakeClient(transport, {.server = host, .retry_for = std::chrono::milliseconds(0)}, metrics);
    (void)client->Get<core::v1::Pod>(ctx, {"n", "p"});
    (void)client->Delete<core::v1::Pod>(ctx, {"n", "p"});
  }
  const std::string text = registry.Render();
  for (const char* line : {
           R"(rest_client_requests_total{code="200",host="one:6443",method="GET"} 1)",
           R"(rest_client_requests_total{code="<error>",host="one:6443",method="DELETE"} 1)",
           R"(rest_client_requests_total{code="<error>",host="two",method="GET"} 1)",
           R"(rest_client_request_duration_seconds_count{host="one:6443",verb="GET"} 1)",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

}  // namespace
}  // namespace cox
