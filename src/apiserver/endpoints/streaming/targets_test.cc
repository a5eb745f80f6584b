// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "apiserver/endpoints/streaming/log_options.h"
#include "apiserver/endpoints/streaming/node_address.h"
#include "apiserver/endpoints/streaming/pod_targets.h"
#include "apiserver/endpoints/streaming/proxy_headers.h"
#include "apiserver/endpoints/streaming/proxy_targets.h"

namespace cox::apiserver {
namespace {

using testing::HasSubstr;

core::v1::Pod PodWith(std::vector<std::string> containers, std::vector<std::string> init = {}) {
  core::v1::Pod pod;
  pod.metadata.name = "web";
  pod.metadata.namespace_ = "default";
  for (std::string& name : containers) pod.spec.containers.emplace_back().name = std::move(name);
  for (std::string& name : init) pod.spec.initContainers.emplace_back().name = std::move(name);
  return pod;
}

TEST(ContainerOf, DefaultsToTheOnlyContainer) {
  EXPECT_EQ(*ContainerOf(PodWith({"a"}), ""), "a");
  EXPECT_EQ(*ContainerOf(PodWith({"a", "b"}), "b"), "b");
  EXPECT_EQ(*ContainerOf(PodWith({"a"}, {"init"}), "init"), "init");
  core::v1::Pod debugged = PodWith({"a"});
  debugged.spec.ephemeralContainers.emplace_back().ephemeralContainerCommon.name = "debugger";
  EXPECT_EQ(*ContainerOf(debugged, "debugger"), "debugger");
  EXPECT_EQ(ContainerOf(PodWith({"a", "b"}), "").status().message(),
            "a container name must be specified for pod web, choose one of: [a b]");
  EXPECT_EQ(ContainerOf(PodWith({"a", "b"}, {"init"}), "").status().message(),
            "a container name must be specified for pod web, choose one of: [init a b]");
  EXPECT_EQ(ContainerOf(PodWith({"a"}), "zz").status().message(),
            "container zz is not valid for pod web");
}

TEST(LogOptions, AreConvertedToKubeletRequest) {
  const struct {
    const char* query;
    const char* target;
  } kCases[] = {
      {"", "/containerLogs/default/web/c"},
      {"follow=true&tailLines=0&timestamps=1",
       "/containerLogs/default/web/c?follow=true&tailLines=0&timestamps=true"},
      {"previous=true&limitBytes=7&sinceSeconds=3",
       "/containerLogs/default/web/c?limitBytes=7&previous=true&sinceSeconds=3"},
      {"sinceTime=2026-01-02T03:04:05Z&stream=Stderr",
       "/containerLogs/default/web/c?sinceTime=2026-01-02T03%3A04%3A05Z&stream=Stderr"},
      {"follow=false&pretty=true", "/containerLogs/default/web/c"},
  };
  for (const auto& each : kCases) {
    const auto options = ReadLogOptions(Query::Parse(each.query), "web");
    ASSERT_TRUE(options.ok()) << options.status().ToString();
    EXPECT_EQ(LogTarget(PodWith({"c"}), "c", *options), each.target);
  }
}

TEST(LogOptions, InvalidValuesAreRejected) {
  const struct {
    const char* query;
    const char* message;
  } kCases[] = {
      {"tailLines=-1", "tailLines: Invalid value: -1: must be greater than or equal to 0"},
      {"limitBytes=0", "limitBytes: Invalid value: 0: must be greater than 0"},
      {"sinceSeconds=0", "sinceSeconds: Invalid value: 0: must be greater than 0"},
      {"sinceSeconds=1&sinceTime=2026-01-02T03:04:05Z",
       "at most one of `sinceTime` or `sinceSeconds` may be specified"},
      {"stream=zz", "supported values: \"All\", \"Stderr\", \"Stdout\""},
      {"stream=Stdout&tailLines=1", "mutually exclusive"},
  };
  for (const auto& each : kCases) {
    const Status status = ReadLogOptions(Query::Parse(each.query), "web").status();
    EXPECT_TRUE(status.Is(Reason::kInvalid)) << each.query;
    EXPECT_THAT(status.message(), HasSubstr("PodLogOptions \"web\" is invalid")) << each.query;
    EXPECT_THAT(status.message(), HasSubstr(each.message)) << each.query;
  }
  EXPECT_TRUE(ReadLogOptions(Query::Parse("tailLines=x"), "web").status().Is(Reason::kBadRequest));
}

TEST(PodTargets, UseTheKubeletsParameterNames) {
  core::v1::PodExecOptions exec;
  exec.command = {"sh", "-c", "echo a&b", ""};
  exec.stdin = exec.stdout = exec.tty = true;
  exec.stderr = false;
  EXPECT_EQ(ExecTarget(PodWith({"c"}), "c", exec),
            "/exec/default/web/c?command=sh&command=-c&command=echo+a%26b&command=&input=1&"
            "output=1&tty=1");
  core::v1::PodAttachOptions attach;
  attach.stdin = attach.tty = false;
  attach.stdout = attach.stderr = true;
  EXPECT_EQ(AttachTarget(PodWith({"c"}), "c", attach), "/attach/default/web/c?error=1&output=1");
  EXPECT_EQ(PortForwardTarget(PodWith({"c"}), {}), "/portForward/default/web");
  core::v1::PodPortForwardOptions ports;
  ports.ports = {80, 443};
  EXPECT_EQ(PortForwardTarget(PodWith({"c"}), ports), "/portForward/default/web?port=80%2C443");
}

TEST(NodeAddress, IsChosenByPreferredType) {
  core::v1::Node node;
  node.status.addresses = {{.type = "InternalIP", .address = "10.0.0.1"},
                           {.type = "Hostname", .address = "n1"}};
  const KubeletClientOptions defaults;
  EXPECT_EQ(*PreferredAddress(node, defaults.preferred_address_types), "n1");
  EXPECT_EQ(*PreferredAddress(node, {"ExternalIP", "InternalIP"}), "10.0.0.1");
  EXPECT_EQ(PreferredAddress(node, {"ExternalIP"}).status().message(),
            "no preferred addresses found; known addresses: [{InternalIP 10.0.0.1} {Hostname n1}]");
  EXPECT_EQ(KubeletOf(node, defaults)->port, 10250);
  node.status.daemonEndpoints.kubeletEndpoint.Port = 1234;
  EXPECT_EQ(KubeletOf(node, defaults)->port, 1234);
  EXPECT_TRUE(KubeletOf(node, defaults)->tls_options.insecure);
  Backend backend{.client = *KubeletOf(node, defaults), .target = "/x?y"};
  EXPECT_EQ(backend.Url(), "https://n1:1234/x?y");
}

TEST(NodeAddress, SimulatedNodeHasNoKubelet) {
  core::v1::Node node;
  node.metadata.name = "sim-0";
  node.metadata.labels["coxswain.dev/simulated"] = "true";
  node.status.addresses = {{.type = "InternalIP", .address = "100.64.0.1"}};
  EXPECT_EQ(KubeletOf(node, {}).status().message(),
            "node sim-0 is simulated: its Pods have no logs, exec, attach or port-forward");
}

TEST(ProxyName, ParsesSchemeAndPort) {
  const struct {
    const char* text;
    const char* read;  // "scheme|name|port"; null: invalid
  } kCases[] = {
      {"web", "|web|"},
      {"web:80", "|web|80"},
      {"web:http", "|web|http"},
      {"http:web:", "http|web|"},
      {"https:web:443", "https|web|443"},
      {"ftp:web:21", nullptr},
      {":80", nullptr},
      {"a:b:c:d", nullptr},
      {"", nullptr},
  };
  for (const auto& each : kCases) {
    const auto name = SplitProxyName(each.text);
    ASSERT_EQ(name.has_value(), each.read != nullptr) << each.text;
    if (!name) continue;
    EXPECT_EQ(name->scheme + "|" + name->name + "|" + name->port, each.read);
  }
}

TEST(Proxyable, ExcludesLoopbackLinkLocalAndMulticast) {
  for (const char* ip : {"10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1", "2001:db8::1"}) {
    EXPECT_TRUE(IsProxyable(ip)) << ip;
  }
  for (const char* ip :
       {"", "127.0.0.1", "127.9.9.9", "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255",
        "::1", "::", "fe80::1", "ff02::1", "::ffff:127.0.0.1", "web.example", "2130706433"}) {
    EXPECT_FALSE(IsProxyable(ip)) << ip;
  }
}

TEST(PodTarget, DefaultsToTheFirstContainerPort) {
  core::v1::Pod pod = PodWith({"a", "b"});
  EXPECT_EQ(PodTarget(pod, {"", "web", ""}).status().message(), "address not allowed");
  pod.status.podIP = "10.1.2.3";
  EXPECT_EQ(PodTarget(pod, {"", "web", ""})->port, 80);
  EXPECT_EQ(PodTarget(pod, {"https", "web", ""})->port, 443);
  pod.spec.containers[1].ports.emplace_back().containerPort = 8080;
  EXPECT_EQ(PodTarget(pod, {"", "web", ""})->port, 8080);
  EXPECT_EQ(PodTarget(pod, {"", "web", "9000"})->port, 9000);
  EXPECT_TRUE(PodTarget(pod, {"https", "web", "9000"})->tls);
  EXPECT_FALSE(PodTarget(pod, {"", "web", "70000"}).ok());
}

TEST(ServiceTargets, AreReadyEndpointsWithThePort) {
  core::v1::Service service;
  service.metadata.name = "web";
  auto& port = service.spec.ports.emplace_back();
  port.name = "http";
  port.port = 80;
  EXPECT_EQ(*ServicePortName(service, {"", "web", "80"}), "http");
  EXPECT_EQ(*ServicePortName(service, {"", "web", "http"}), "http");
  EXPECT_EQ(ServicePortName(service, {"", "web", "81"}).status().message(),
            "no service port 81 found for service \"web\"");

  discovery::v1::EndpointSlice slice;
  slice.addressType = "IPv4";
  auto& slice_port = slice.ports.emplace_back();
  slice_port.name = "http";
  slice_port.port = 8080;
  for (const auto& [ip, ready] : {std::pair("10.0.0.1", true), std::pair("10.0.0.2", false)}) {
    auto& endpoint = slice.endpoints.emplace_back();
    endpoint.addresses = {ip};
    endpoint.conditions.ready = ready;
  }
  const auto targets = ServiceTargets({slice}, {"", "web", "80"}, "http");
  ASSERT_TRUE(targets.ok());
  ASSERT_EQ(targets->size(), 1u);
  EXPECT_EQ(targets->front().host, "10.0.0.1");
  EXPECT_EQ(targets->front().port, 8080);
  EXPECT_EQ(ServiceTargets({slice}, {"", "web", ""}, "").status().message(),
            "no endpoints available for service \"web\"");
  slice.endpoints[0].addresses = {"127.0.0.1"};
  EXPECT_EQ(ServiceTargets({slice}, {"", "web", ""}, "http").status().message(),
            "address not allowed");
}

TEST(ProxySubpath, KeepsEscapesOfThePathAfterProxy) {
  const std::string_view path = "/api/v1/namespaces/default/pods/web/proxy";
  EXPECT_EQ(ProxySubpath(path, 7), "");
  EXPECT_EQ(ProxySubpath("/api/v1/namespaces/default/pods/web/proxy/", 7), "/");
  EXPECT_EQ(ProxySubpath("/api/v1/nodes/n/proxy/a%2Fb//c/", 5), "/a%2Fb//c/");
}

TEST(ProxyHeaders, OmitHopByHopHeaders) {
  net::Request request;
  auto peer = std::make_shared<net::Peer>();
  peer->address = "10.9.8.7:1234";
  request.peer = peer;
  request.headers = {{"host", "api"},         {"connection", "close, X-Mine"},
                     {"x-mine", "1"},         {"te", "trailers"},
                     {"accept", "text/html"}, {"x-forwarded-for", "1.2.3.4"}};
  const net::Headers headers = ForwardedHeaders(request);
  EXPECT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers.Get("accept"), "text/html");
  EXPECT_EQ(headers.Get("x-forwarded-for"), "1.2.3.4, 10.9.8.7");
  const net::Headers answer = ResponseHeaders({{"content-type", "text/html"},
                                               {"transfer-encoding", "chunked"},
                                               {"access-control-allow-origin", "*"}});
  EXPECT_EQ(answer.size(), 1u);
}

TEST(ProxyHeaders, LocationIsRewrittenToTheProxy) {
  const ProxyFront front{.host = "api", .prefix = "/api/v1/nodes/n/proxy"};
  const std::string behind = "http://10.0.0.1:80";
  EXPECT_EQ(RewriteLocation("/login", front, behind), "/api/v1/nodes/n/proxy/login");
  EXPECT_EQ(RewriteLocation("http://10.0.0.1:80/login?x", front, behind),
            "/api/v1/nodes/n/proxy/login?x");
  EXPECT_EQ(RewriteLocation("http://10.0.0.1:80", front, behind), "/api/v1/nodes/n/proxy/");
  EXPECT_EQ(RewriteLocation("http://10.0.0.1:8080/", front, behind), "http://10.0.0.1:8080/");
  EXPECT_EQ(RewriteLocation("https://other/", front, behind), "https://other/");
  EXPECT_EQ(RewriteLocation("//other/", front, behind), "//other/");
  EXPECT_EQ(RewriteLocation("next", front, behind), "next");
}

}  // namespace
}  // namespace cox::apiserver
