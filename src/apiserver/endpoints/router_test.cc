// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/router.h"

#include "apiserver/testing/call_harness.h"

namespace cox::apiserver {
namespace {

class RouterTest : public ::testing::Test {
 protected:
  std::string Answer(const std::string& method, const std::string& target,
                     net::Headers headers = {}) {
    FakeCall call(api_.clock(),
                  {.method = method, .target = target, .headers = std::move(headers)});
    router_.Handle(call.shared());
    answer_ = call.shared();
    return std::to_string(call.exchange().status()) + " " + call.exchange().Header("content-type");
  }

  ApiHarness api_;
  Discovery discovery_{[this] { return api_.registry().served(); }};
  OpenApi openapi_{[this] { return api_.registry().served(); }, "v1.36.4"};
  Health health_{{{"ping", [] { return Status(); }}}};
  MetricsRegistry metrics_;
  const std::shared_ptr<const ServiceAccountTokens> tokens_ = *ServiceAccountTokens::Create({});
  const Authenticator authenticator_{{}, /*anonymous=*/true};
  const AlwaysAllow authorizer_;
  const Reviews reviews_{{.authenticator = authenticator_,
                          .authorizer = authorizer_,
                          .tokens = tokens_,
                          .resources = api_.handlers()}};
  const ComponentStatuses components_{{}};
  const IssuerDiscovery issuer_{*tokens_, "10.0.0.1:6443"};
  Router router_{{.resources = api_.handlers(),
                  .discovery = discovery_,
                  .openapi = openapi_,
                  .health = health_,
                  .reviews = reviews_,
                  .components = components_,
                  .issuer = issuer_,
                  .metrics = metrics_,
                  .server_address = "10.0.0.1:6443",
                  .version = {}}};
  std::shared_ptr<Call> answer_;
};

TEST_F(RouterTest, DispatchesByPathAndMethod) {
  const std::string json = "application/json", text = "text/plain; charset=utf-8";
  const struct {
    std::string method, target, want;
  } kCases[] = {
      {"GET", "/", "200 " + json},
      {"GET", "/index.html", "200 " + json},
      {"GET", "/version", "200 " + json},
      {"GET", "/version/", "200 " + json},
      {"POST", "/version", "405 " + json},
      {"GET", "/healthz", "200 " + text},
      {"GET", "/livez/ping", "200 " + text},
      {"GET", "/livez/nothing", "404 " + text},
      {"GET", "/metrics", "200 " + std::string(MetricsRegistry::kContentType)},
      {"GET", "/.well-known/openid-configuration", "200 " + json},
      {"POST", "/.well-known/openid-configuration", "405 " + json},
      {"GET", "/openid/v1/jwks", "200 application/jwk-set+json"},
      {"GET", "/openid/v1/keys", "404 " + text},
      {"GET", "/api", "200 " + json},
      {"POST", "/api", "405 " + json},
      {"GET", "/api/", "200 " + json},
      {"GET", "/apis", "200 " + json},
      {"POST", "/apis", "200 " + json},
      {"GET", "/apis/apps", "200 " + json},
      {"GET", "/apis/apps/", "200 " + json},
      {"DELETE", "/apis/apps", "405 " + json},
      {"GET", "/apis/apps/v1", "200 " + json},
      {"GET", "/apis/apps/v9", "404 " + json},
      {"GET", "/apis/none.example", "404 " + text},
      {"GET", "/apis/none.example/v1", "404 " + text},
      {"GET", "/apis/none.example/v1/things", "404 " + text},
      {"GET", "/api/v1", "200 " + json},
      {"GET", "/api/v9", "404 " + json},
      {"GET", "/api/v1/pods", "200 " + json},
      {"GET", "/api/v1/nonesuch", "404 " + json},
      {"GET", "/nonesuch", "404 " + text},
      {"GET", "/healthzz", "404 " + text},
  };
  for (const auto& c : kCases) EXPECT_EQ(Answer(c.method, c.target), c.want) << c.target;
}

TEST_F(RouterTest, DiscoveryIsEncodedAsTheAcceptHeaderRequires) {
  const std::string aggregated = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const struct {
    std::string target, accept, want;
  } kCases[] = {
      {"/apis", "application/json" + aggregated, "200 application/json" + aggregated},
      {"/api", "application/vnd.kubernetes.protobuf" + aggregated,
       "200 application/vnd.kubernetes.protobuf" + aggregated},
      {"/apis", "application/yaml", "200 application/yaml"},
      {"/apis/apps", "application/yaml", "200 application/yaml"},
      {"/apis/apps", "application/json" + aggregated, "406 application/json"},
      {"/apis", "text/html", "406 application/json"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Answer("GET", c.target, {{"accept", c.accept}}), c.want) << c.target << c.accept;
  }
}

TEST_F(RouterTest, AggregatedDiscoveryWithMatchingEtagReturns304) {
  const std::string accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  FakeCall first(api_.clock(), {.target = "/apis", .headers = {{"accept", accept}}});
  router_.Handle(first.shared());
  const std::string etag = first.exchange().Header("etag");
  EXPECT_GT(etag.size(), 100u);
  FakeCall second(api_.clock(),
                  {.target = "/apis", .headers = {{"accept", accept}, {"if-none-match", etag}}});
  router_.Handle(second.shared());
  EXPECT_EQ(second.exchange().status(), 304);
  EXPECT_EQ(second.exchange().Body(), "");
}

TEST_F(RouterTest, ResourcesRejectUnsupportedMethodsAndPaths) {
  const struct {
    std::string method, target;
    int want;
  } kCases[] = {
      {"POST", "/api/v1/pods", 405},                              // create needs a namespace
      {"DELETE", "/api/v1/pods", 405},                            //
      {"GET", "/api/v1/pods/p", 404},                             // get needs a namespace
      {"POST", "/api/v1/namespaces/default/pods/p", 405},         // the name must be in the body
      {"PUT", "/api/v1/namespaces/default/pods", 405},            //
      {"OPTIONS", "/api/v1/namespaces/default/pods", 405},        //
      {"HEAD", "/api/v1/namespaces/default/pods", 405},           //
      {"GET", "/api/v1/namespaces/default/nodes", 404},           // cluster-scoped
      {"GET", "/api/v1/namespaces/default/pods/p/nothing", 404},  // no such subresource
      {"PUT", "/api/v1/namespaces/default/pods/p/log", 405},      //
      {"GET", "/api/v1/namespaces/default//pods", 404},           //
      {"GET", "/api/v1/namespaces/default/pods/p/status/x", 404},
      {"DELETE", "/api/v1/namespaces", 405},
      {"GET", "/apis/authorization.k8s.io/v1/subjectaccessreviews", 405},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Answer(c.method, c.target).substr(0, 3), std::to_string(c.want))
        << c.method << " " << c.target;
  }
}

}  // namespace
}  // namespace cox::apiserver
