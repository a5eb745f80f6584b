// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "apiserver/endpoints/streaming/connector.h"
#include "apiserver/endpoints/streaming/proxy_targets.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/testing/call_harness.h"
#include "net/testing/loopback.h"

namespace cox::apiserver {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Allows everything except one verb.
class AllExcept final : public Authorizer {
 public:
  explicit AllExcept(const std::string& verb) : verb_(verb) {}
  UserRules Rules(const UserInfo&, std::string_view) const override { return {}; }

 private:
  Decision Decide(const UserInfo&, const RequestInfo& info, const Selectors&) const override {
    return {.allowed = info.verb != verb_};
  }
  const std::string& verb_;
};

// API handlers that connect to a kubelet on the loopback interface, which echoes its requests.
class ConnectTest : public testing::Test {
 protected:
  ConnectTest()
      : kubelet_([this](net::ExchangePtr exchange) { Answer(*exchange); }),
        connector_(kubelet_.context, authorizer_,
                   {.preferred_address_types = {"InternalIP", "Hostname"},
                    .tls = [this] { return Tls(); },
                    .proxyable = [this](const std::string& ip) { return IsAllowed(ip); }},
                   {.port = [this] { return own_port_; },
                    .service_ranges = {*validation::ParseCidrSloppy("127.9.0.0/16")}}) {
    api_.handlers().set_connector(&connector_);
  }

  Result<net::ClientTls> Tls() {
    net::ClientTls tls;
    tls.ca_pem = trusted_ ? kubelet_.ca.certificate_pem : other_ca_.certificate_pem;
    return tls;
  }

  void Answer(net::Exchange& exchange) {
    const net::Request& request = exchange.request();
    if (request.target.find("/refused") != std::string::npos) {
      return exchange.Send({.status = 404, .body = {Bytes::Static("no such thing\n")}});
    }
    if (request.target.find("/moved") != std::string::npos) {
      return exchange.Send({.status = 302, .headers = {{"location", "/api/v1/secrets"}}});
    }
    if (request.target.find("/page") != std::string::npos) {
      net::Response page{.status = page_status_, .headers = page_headers_};
      page.body.emplace_back("<a href=\"/x\">" +
                             std::string(request.headers.Get("accept-encoding").value_or("none")));
      return exchange.Send(std::move(page));
    }
    net::Response response{.status = 200};
    response.headers.Add("content-type", "text/plain");
    response.headers.Add("x-of-node", "1");
    response.body.emplace_back(request.method + " " + request.target + " " + request.body);
    exchange.Send(std::move(response));
  }

  // The servers of the test are on the loopback interface.
  bool IsAllowed(const std::string& ip) const { return loopback_allowed_ || IsProxyable(ip); }

  void AddNode(const std::string& name, uint16_t port, const std::string& address = "127.0.0.1") {
    Create("/api/v1/nodes", R"({"metadata":{"name":")" + name + R"("}})");
    const char* const type = address == "localhost" ? "Hostname" : "InternalIP";
    const std::string status = R"({"status":{"addresses":[{"type":")" + std::string(type) +
                               R"(","address":")" + address +
                               R"("}],)"
                               R"("daemonEndpoints":{"kubeletEndpoint":{"Port":)" +
                               std::to_string(port) + "}}}}";
    const std::string answer =
        api_.Text({.method = "PATCH",
                   .target = "/api/v1/nodes/" + name + "/status",
                   .body = status,
                   .headers = {{"content-type", "application/merge-patch+json"}}});
    ASSERT_THAT(answer, testing::StartsWith("200 "));
  }
  void AddPod(const std::string& name, const std::string& node) {
    Create("/api/v1/namespaces/default/pods", R"({"metadata":{"name":")" + name +
                                                  R"("},"spec":{"nodeName":")" + node +
                                                  R"(","containers":[{"name":"c","image":"i"}]}})");
  }
  void Create(const std::string& target, const std::string& body) {
    ASSERT_THAT(api_.Text({.method = "POST", .target = target, .body = body}),
                testing::StartsWith("201 "));
  }
  // Returns the complete response: "200 text".
  std::string Get(const std::string& target, const std::string& method = "GET") {
    FakeCall call = api_.Do({.method = method, .target = target, .body = "body"});
    connector_.Wait();
    std::string text = call.exchange().Body() + call.exchange().Pull();
    headers_ = call.exchange().response().headers;
    return std::to_string(call.exchange().status()) + " " + text;
  }

  bool trusted_ = true;
  bool loopback_allowed_ = true;
  uint16_t own_port_ = 0;
  int page_status_ = 200;
  net::Headers page_headers_;
  std::string denied_verb_;
  const net::CertificatePair other_ca_ =
      net::Loopback::Made({.common_name = "other", .is_ca = true}, nullptr);
  net::Headers headers_;
  ApiHarness api_;
  const AllExcept authorizer_{denied_verb_};
  net::Loopback kubelet_;
  NodeConnector connector_;
};

constexpr char kPods[] = "/api/v1/namespaces/default/pods/";

TEST_F(ConnectTest, LogsAreReadFromTheKubeletOfThePodsNode) {
  AddNode("n1", kubelet_.server->port());
  AddPod("web", "n1");
  EXPECT_EQ(Get(std::string(kPods) + "web/log?tailLines=3&follow=true"),
            "200 GET /containerLogs/default/web/c?follow=true&tailLines=3 <end>");
  EXPECT_EQ(headers_.Get("content-type"), "text/plain");
  EXPECT_FALSE(headers_.Get("x-of-node")) << "what a kubelet says in headers is not the client's";
}

TEST_F(ConnectTest, UnscheduledPodHasEmptyLogAndRejectsExec) {
  AddPod("web", "");
  EXPECT_EQ(Get(std::string(kPods) + "web/log"), "204 ");
  EXPECT_THAT(Get(std::string(kPods) + "web/exec?command=ls"),
              HasSubstr("pod web does not have a host assigned"));
  EXPECT_THAT(Get(std::string(kPods) + "web/portforward"),
              HasSubstr("pod web does not have a host assigned"));
}

TEST_F(ConnectTest, KubeletConnectionErrorsUseGosTexts) {
  AddNode("n1", 1);
  AddPod("web", "n1");
  EXPECT_THAT(
      Get(std::string(kPods) + "web/log"),
      testing::AllOf(HasSubstr("500 "),
                     HasSubstr(R"(Get \"https://127.0.0.1:1/containerLogs/default/web/c\": )"
                               "dial tcp 127.0.0.1:1: connect: connection refused")));
  AddPod("lost", "n2");
  EXPECT_THAT(Get(std::string(kPods) + "lost/log"), HasSubstr(R"(pods \"n2\" not found)"));
}

TEST_F(ConnectTest, UntrustedKubeletIsRejectedUnlessClientSkipsVerification) {
  trusted_ = false;
  AddNode("n1", kubelet_.server->port());
  AddPod("web", "n1");
  EXPECT_THAT(Get(std::string(kPods) + "web/log"), testing::StartsWith("500 "));
  EXPECT_THAT(Get(std::string(kPods) + "web/log?insecureSkipTLSVerifyBackend=true"),
              testing::StartsWith("200 GET /containerLogs"));
}

TEST_F(ConnectTest, KubeletErrorBecomesApiError) {
  AddNode("n1", kubelet_.server->port());
  AddPod("refused", "n1");
  EXPECT_THAT(Get(std::string(kPods) + "refused/log"),
              testing::AllOf(testing::StartsWith("404 "), HasSubstr("no such thing")));
}

TEST_F(ConnectTest, StreamsRequireAnUpgrade) {
  AddNode("n1", kubelet_.server->port());
  AddPod("web", "n1");
  for (const char* what : {"exec?command=ls", "attach", "portforward"}) {
    EXPECT_THAT(Get(std::string(kPods) + "web/" + what),
                testing::AllOf(testing::StartsWith("400 "), HasSubstr("Upgrade request required")))
        << what;
  }
}

// CVE-2018-1002102, CVE-2020-8559: a node that redirects the API server or the client.
TEST_F(ConnectTest, RedirectInsteadOfUpgradeIsNotForwarded) {
  AddNode("n1", kubelet_.server->port());
  AddPod("moved", "n1");
  AddPod("web", "n1");
  AddPod("refused", "n1");
  const net::Headers upgrade{{"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}};
  const auto exec = [&](const std::string& pod) {
    FakeCall call = api_.Do({.method = "POST",
                             .target = std::string(kPods) + pod + "/exec?command=ls",
                             .headers = upgrade});
    connector_.Wait();
    headers_ = call.exchange().response().headers;
    return std::to_string(call.exchange().status()) + " " + call.exchange().Body();
  };
  EXPECT_THAT(exec("moved"),
              testing::AllOf(testing::StartsWith("500 "),
                             HasSubstr("invalid upgrade response: status code 302")));
  EXPECT_FALSE(headers_.Get("location"));
  EXPECT_THAT(exec("web"), HasSubstr("invalid upgrade response: status code 200"));
  EXPECT_EQ(exec("refused"), "404 no such thing\n");
}

TEST_F(ConnectTest, ProxiesToTheKubeletOfANode) {
  AddNode("n1", kubelet_.server->port());
  EXPECT_EQ(Get("/api/v1/nodes/n1/proxy/pods/?a=b"), "200 GET /pods/?a=b body<end>");
  EXPECT_EQ(headers_.Get("x-of-node"), "1");
  EXPECT_EQ(Get("/api/v1/nodes/n1/proxy/a%2Fb//c", "PUT"), "200 PUT /a%2Fb//c body<end>");
  EXPECT_EQ(Get("/api/v1/nodes/n1:" + std::to_string(kubelet_.server->port()) + "/proxy/x"),
            "200 GET /x body<end>");
  EXPECT_EQ(Get("/api/v1/nodes/n1/proxy?a=b", "POST"), "200 POST /?a=b body<end>");
  // A path in the query is treated like the path in the URL.
  EXPECT_EQ(Get("/api/v1/nodes/n1/proxy?path=/a%20b%3Fc/d"),
            "200 GET /a%20b%3Fc/d?path=/a%20b%3Fc/d body<end>");
  EXPECT_EQ(Get("/api/v1/nodes/n1/proxy"), "301 ");
  EXPECT_EQ(headers_.Get("location"), "/api/v1/nodes/n1/proxy/");
  EXPECT_THAT(Get("/api/v1/nodes/ftp:n1:1/proxy/x"), HasSubstr("invalid node request"));
  EXPECT_THAT(Get("/api/v1/nodes/none/proxy/x"), HasSubstr(R"(nodes \"none\" not found)"));
}

// CVE-2022-3294: a Node must not direct requests to the API server itself, which would trust the
// kubelet client certificate.
TEST_F(ConnectTest, LinksOfProxiedPagesAreRewritten) {
  AddNode("n1", kubelet_.server->port());
  const std::string path = "/api/v1/nodes/n1/proxy/page";
  const std::string rewritten = R"(<a href="/api/v1/nodes/n1/proxy/x">)",
                    original = R"(<a href="/x">)";
  const struct {
    net::Headers headers;
    int status;
    const std::string& want;
  } kCases[] = {
      {{{"content-type", "text/html"}}, 200, rewritten},
      {{{"content-type", "Text/HTML; charset=utf-8"}}, 404, rewritten},
      {{{"content-type", "text/html"}, {"content-encoding", "identity"}}, 200, rewritten},
      {{{"content-type", "text/html"}, {"content-encoding", "br"}}, 200, original},
      {{{"content-type", "text/html"}}, 206, original},
      {{{"content-type", "text/htmlx"}}, 200, original},
      {{{"content-type", "application/xhtml+xml"}}, 200, original},
      {{}, 200, original},
  };
  for (const auto& c : kCases) {
    page_headers_ = c.headers;
    page_status_ = c.status;
    EXPECT_EQ(Get(path), std::to_string(c.status) + " " + c.want + "none<end>");
  }
}

TEST_F(ConnectTest, PagesAreRequestedWithoutCompression) {
  AddNode("n1", kubelet_.server->port());
  page_headers_ = {{"content-type", "text/html"}};
  const struct {
    std::string accept, want;
  } kCases[] = {{"text/html,application/xhtml+xml", "none"}, {"*/*", "gzip"}};
  for (const auto& c : kCases) {
    FakeCall call = api_.Do({.target = "/api/v1/nodes/n1/proxy/page",
                             .headers = {{"accept", c.accept}, {"accept-encoding", "gzip"}}});
    connector_.Wait();
    EXPECT_THAT(call.exchange().Pull(), HasSubstr(">" + c.want + "<end>"));
  }
}

TEST_F(ConnectTest, NodeProxyConnectsToNoAddressOfTheApiServer) {
  const std::string port = std::to_string(kubelet_.server->port());
  AddNode("loopback", kubelet_.server->port());
  AddNode("name", kubelet_.server->port(), "localhost");
  AddNode("service", kubelet_.server->port(), "127.9.0.1");
  AddPod("web", "loopback");
  AddPod("redirected", "service");
  const std::string kRefused = "address not allowed";
  const auto paths = [&](const std::string& node) {
    return std::vector<std::string>{"/api/v1/nodes/" + node + "/proxy/x",
                                    "/api/v1/nodes/" + node + ":" + port + "/proxy/x",
                                    "/api/v1/nodes/https:" + node + ":" + port + "/proxy/x",
                                    "/api/v1/nodes/" + node + ":1/proxy/x"};
  };
  for (const std::string& path : paths("loopback")) {
    if (path.ends_with(":1/proxy/x")) continue;
    EXPECT_THAT(Get(path), Not(HasSubstr(kRefused))) << path;
  }
  // An address in the range of Services may be this API server's.
  for (const std::string& path : paths("service")) EXPECT_THAT(Get(path), HasSubstr(kRefused));
  EXPECT_THAT(Get(std::string(kPods) + "redirected/log"), HasSubstr(kRefused));
  loopback_allowed_ = false;
  for (const char* node : {"loopback", "name"}) {
    for (const std::string& path : paths(node)) {
      EXPECT_THAT(Get(path), AllOf(StartsWith("400 "), HasSubstr(kRefused))) << path;
    }
  }
  EXPECT_THAT(Get(std::string(kPods) + "web/log"), StartsWith("200 "));
  own_port_ = kubelet_.server->port();
  loopback_allowed_ = true;
  for (const char* node : {"loopback", "name"}) {
    for (const std::string& path : paths(node)) {
      if (path.ends_with(":1/proxy/x")) continue;
      EXPECT_THAT(Get(path), AllOf(StartsWith("400 "), HasSubstr(kRefused))) << path;
    }
  }
  EXPECT_THAT(Get(std::string(kPods) + "web/log"), AllOf(StartsWith("400 "), HasSubstr(kRefused)));
}

// The filter chain checks the verb of the method: `get` for GET.
TEST_F(ConnectTest, StreamsToContainersRequireCreateWithEveryProtocol) {
  AddNode("n1", kubelet_.server->port());
  AddPod("web", "n1");
  const net::Headers none;
  const net::Headers spdy{{"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}};
  const net::Headers websocket{{"connection", "Upgrade"},
                               {"upgrade", "websocket"},
                               {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="},
                               {"sec-websocket-version", "13"},
                               {"sec-websocket-protocol", "v5.channel.k8s.io"}};
  const auto status = [&](const std::string& method, const std::string& target,
                          const net::Headers& headers) {
    FakeCall call = api_.Do({.method = method, .target = target, .headers = headers});
    connector_.Wait();
    return call.exchange().status();
  };
  for (const net::Headers* headers : {&none, &spdy, &websocket}) {
    for (const char* what : {"exec?command=ls", "attach", "portforward"}) {
      const std::string target = std::string(kPods) + "web/" + what;
      denied_verb_ = "create";
      EXPECT_EQ(status("GET", target, *headers), 403) << what;
      // `create` was checked by the filter chain, which this test does not use.
      EXPECT_NE(status("POST", target, *headers), 403) << what;
      denied_verb_ = "get";
      EXPECT_NE(status("GET", target, *headers), 403) << what;
    }
    // The proxy forwards a method as it is: the verb of the method is sufficient.
    denied_verb_ = "create";
    for (const char* method : {"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
      EXPECT_NE(status(method, "/api/v1/nodes/n1/proxy/x", *headers), 403) << method;
      EXPECT_NE(status(method, std::string(kPods) + "web:80/proxy/x", *headers), 403) << method;
    }
  }
}

TEST_F(ConnectTest, ServicesWithoutEndpointsAreUnavailable) {
  Create(
      "/api/v1/namespaces/default/services",
      R"({"metadata":{"name":"web"},"spec":{"clusterIP":"None","clusterIPs":["None"],"ports":[{"port":80}]}})");
  EXPECT_THAT(Get("/api/v1/namespaces/default/services/web:80/proxy/"),
              testing::AllOf(testing::StartsWith("503 "),
                             HasSubstr(R"(no endpoints available for service \"web\")")));
  EXPECT_THAT(Get("/api/v1/namespaces/default/services/web:81/proxy/"),
              HasSubstr("no service port 81 found"));
}

}  // namespace
}  // namespace cox::apiserver
