// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/webhook/webhook_authorizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "net/testing/loopback.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const UserInfo kAlice{
    .name = "alice", .uid = "7", .groups = {"dev"}, .extra = {{"scopes", {"a", "b"}}}};

RequestInfo Info(std::string_view method, std::string_view target) {
  const size_t query = target.find('?');
  return *ParseRequestInfo(
      method, target,
      Query::Parse(query == target.npos ? std::string_view() : target.substr(query + 1)));
}

TEST(EncodeReview, ContainsUserAndRequest) {
  const std::string review = EncodeReview(
      kAlice, Info("GET", "/apis/apps/v1/namespaces/ns/deployments/d/scale"), {}, "v1");
  EXPECT_THAT(review, HasSubstr(R"("apiVersion":"authorization.k8s.io/v1")"));
  EXPECT_THAT(review, HasSubstr(R"("kind":"SubjectAccessReview")"));
  EXPECT_THAT(review,
              HasSubstr(R"("spec":{"extra":{"scopes":["a","b"]},"groups":["dev"],)"
                        R"("resourceAttributes":{"group":"apps","name":"d","namespace":"ns",)"
                        R"("resource":"deployments","subresource":"scale","verb":"get",)"
                        R"("version":"v1"},"uid":"7","user":"alice"})"));
  const std::string old = EncodeReview(kAlice, Info("POST", "/metrics"), {}, "v1beta1");
  EXPECT_THAT(old, HasSubstr(R"("apiVersion":"authorization.k8s.io/v1beta1")"));
  EXPECT_THAT(old, HasSubstr(R"("group":["dev"])"));
  EXPECT_THAT(old, HasSubstr(R"("nonResourceAttributes":{"path":"/metrics","verb":"post"})"));
  EXPECT_THAT(
      EncodeReview(kAlice, Info("GET", "/api/v1/pods"), {"spec.nodeName=n", "a"}, "v1"),
      HasSubstr(R"("fieldSelector":{"requirements":[{"key":"spec.nodeName",)"
                R"("operator":"In","values":["n"]}]},"labelSelector":{"rawSelector":"a"})"));
}

// A webhook server with configurable responses.
class WebhookAuthorizerTest : public testing::Test {
 protected:
  std::unique_ptr<WebhookAuthorizer> Make(WebhookAuthorizerConfig config = {}) {
    WebhookConfig target;
    target.url = "https://127.0.0.1:" + std::to_string(server_.server->port()) + "/authorize";
    target.ca_pem = server_.ca.certificate_pem;
    return std::make_unique<WebhookAuthorizer>(
        server_.context, *WebhookClient::Create(connections_, std::move(target)), config);
  }
  void Answer(const net::ExchangePtr& exchange) {
    const int call = ++calls_;
    net::Response response;
    response.status = call <= failures_ ? failure_ : 200;
    response.headers.Add("content-type", "application/json");
    response.body.push_back(Bytes(std::string(answer_)));
    exchange->Send(std::move(response));
  }

  std::string answer_ = R"({"status":{"allowed":true,"reason":"because"}})";
  int failure_ = 500;
  int failures_ = 0;
  std::atomic<int> calls_ = 0;
  net::Loopback server_{[this](const net::ExchangePtr& exchange) { Answer(exchange); }};
  std::shared_ptr<WebhookConnections> connections_ =
      std::make_shared<WebhookConnections>(server_.context);
  const RequestInfo get_ = Info("GET", "/api/v1/namespaces/ns/pods/p");
};

TEST_F(WebhookAuthorizerTest, AllowsDeniesOrHasNoOpinion) {
  const struct {
    std::string_view status;
    bool allowed, denied;
    std::string_view error;
  } kCases[] = {
      {R"({"status":{"allowed":true}})", true, false, ""},
      {R"({"status":{"allowed":false}})", false, false, ""},
      {R"({"status":{"allowed":false,"denied":true}})", false, true, ""},
      {R"({"status":{"allowed":true,"denied":true}})", false, false, "both allow and deny"},
      {R"({"status":{"allowed":"yes"}})", false, false, ""},
      {R"({})", false, false, "without a status"},
      {R"(junk)", false, false, "junk"},
  };
  for (const auto& c : kCases) {
    answer_ = c.status;
    const Decision decision = Make({.timeout = 2s})->Authorize(kAlice, get_);
    EXPECT_EQ(decision.allowed, c.allowed) << c.status;
    EXPECT_EQ(decision.denied, c.denied) << c.status;
    EXPECT_EQ(decision.error.empty(), c.error.empty()) << c.status << decision.error;
  }
}

TEST_F(WebhookAuthorizerTest, DecisionsAreCachedForTtl) {
  const auto authorizer = Make({.unauthorized_ttl = 0s});
  EXPECT_TRUE(authorizer->MayBlock());
  EXPECT_TRUE(authorizer->Authorize(kAlice, get_).allowed);
  EXPECT_EQ(authorizer->Authorize(kAlice, get_).reason, "because");
  EXPECT_EQ(calls_, 1);
  UserInfo other = kAlice;
  other.groups.push_back("ops");
  authorizer->Authorize(other, get_);
  EXPECT_EQ(calls_, 2);
  answer_ = R"({"status":{"allowed":false}})";
  const RequestInfo list = Info("GET", "/api/v1/pods");
  authorizer->Authorize(kAlice, list);
  authorizer->Authorize(kAlice, list);
  EXPECT_EQ(calls_, 4);
}

TEST_F(WebhookAuthorizerTest, TransientFailuresAreRetried) {
  failures_ = 1;
  EXPECT_TRUE(Make()->Authorize(kAlice, get_).allowed);
  EXPECT_EQ(calls_, 2);
  failure_ = 403;
  failures_ = 100;
  EXPECT_FALSE(Make()->Authorize(kAlice, get_).error.empty());
  EXPECT_EQ(calls_, 3);
}

TEST_F(WebhookAuthorizerTest, FailurePolicyDeterminesDenial) {
  failures_ = 100;
  failure_ = 404;
  for (const bool deny : {false, true}) {
    const Decision decision = Make({.deny_on_failure = deny})->Authorize(kAlice, get_);
    EXPECT_FALSE(decision.allowed);
    EXPECT_EQ(decision.denied, deny);
    EXPECT_NE(decision.error, "");
    EXPECT_EQ(StatusOf(decision, kAlice, get_).code(), 500);
  }
}

TEST(DecisionCache, EntriesExpireAndSizeIsBounded) {
  DecisionCache cache;
  const Clock::SteadyTime now{};
  cache.Keep("q", {true, "r"}, now + 5s);
  EXPECT_TRUE(cache.Find("q", now + 4s)->allowed);
  EXPECT_FALSE(cache.Find("q", now + 5s));
  cache.Keep(std::string(DecisionCache::kMaxQuestion + 1, 'x'), {}, now + 5s);
  EXPECT_FALSE(cache.Find(std::string(DecisionCache::kMaxQuestion + 1, 'x'), now));
  for (size_t i = 0; i <= DecisionCache::kEntries; ++i) {
    cache.Keep(std::to_string(i), {}, now + 5s);
    cache.Find("0", now);  // recently used, therefore kept
  }
  EXPECT_TRUE(cache.Find("0", now));
  EXPECT_FALSE(cache.Find("1", now));
}

}  // namespace
}  // namespace cox::apiserver
