// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "apiserver/endpoints/streaming/connector.h"
#include "apiserver/testing/call_harness.h"
#include "net/testing/loopback.h"

namespace cox::apiserver {
namespace {

using testing::HasSubstr;

// API handlers that connect to a kubelet on the loopback interface, which echoes its requests.
class ConnectTest : public testing::Test {
 protected:
  ConnectTest()
      : kubelet_([this](net::ExchangePtr exchange) { Answer(*exchange); }),
        connector_(kubelet_.context, authorizer_,
                   {.preferred_address_types = {"InternalIP"}, .tls = [this] { return Tls(); }}) {
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
    net::Response response{.status = 200};
    response.headers.Add("content-type", "text/plain");
    response.headers.Add("x-of-node", "1");
    response.body.emplace_back(request.method + " " + request.target + " " + request.body);
    exchange.Send(std::move(response));
  }

  void AddNode(const std::string& name, uint16_t port) {
    Create("/api/v1/nodes", R"({"metadata":{"name":")" + name + R"("}})");
    const std::string status =
        R"({"status":{"addresses":[{"type":"InternalIP","address":"127.0.0.1"}],)"
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
  const net::CertificatePair other_ca_ =
      net::Loopback::Made({.common_name = "other", .is_ca = true}, nullptr);
  net::Headers headers_;
  ApiHarness api_;
  const AlwaysAllow authorizer_;
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
  EXPECT_THAT(Get("/api/v1/nodes/n1:1/proxy/x"), HasSubstr("address not allowed"));
  EXPECT_THAT(Get("/api/v1/nodes/ftp:n1:1/proxy/x"), HasSubstr("invalid node request"));
  EXPECT_THAT(Get("/api/v1/nodes/none/proxy/x"), HasSubstr(R"(nodes \"none\" not found)"));
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
