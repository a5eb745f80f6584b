// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>

#include "kubelet/server/node_server.h"
#include "kubelet/testing/server_pods.h"
#include "net/byte_stream.h"
#include "net/client.h"
#include "object/codec/json/json.h"
#include "runtime/labels.h"
#include "runtime/testing/fake_runtime.h"

namespace cox::kubelet {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(RouteTest, ParsesEndpointPodAndContainer) {
  using To = Route::To;
  EXPECT_EQ(FindRoute("GET", "/healthz")->to, To::kHealthz);
  EXPECT_EQ(FindRoute("GET", "/runningpods/")->to, To::kRunningPods);
  EXPECT_EQ(FindRoute("GET", "/metrics/cadvisor")->to, To::kCadvisorMetrics);
  const auto logs = FindRoute("GET", "/containerLogs/default/web-0/main");
  EXPECT_EQ(logs->pod, (ObjectKey{"default", "web-0"}));
  EXPECT_EQ(logs->container, "main");
  const auto exec = FindRoute("POST", "/exec/default/web-0/uid-1/main");
  EXPECT_EQ(exec->to, To::kExec);
  EXPECT_EQ(exec->uid, "uid-1");
  EXPECT_EQ(exec->container, "main");
  EXPECT_EQ(FindRoute("GET", "/exec/default/web-0/main")->uid, "");
  EXPECT_EQ(FindRoute("POST", "/portForward/default/web-0")->pod.name, "web-0");
  EXPECT_EQ(FindRoute("POST", "/portForward/default/web-0/uid-1")->uid, "uid-1");
  for (const char* path : {"/", "", "/foo", "/exec", "/exec/a/b", "/exec/a/b/c/d/e",
                           "/containerLogs/a/b/c/d", "/containerLogs/a//c", "/podsx"}) {
    EXPECT_TRUE(FindRoute("GET", path).status().Is(Reason::kNotFound)) << path;
  }
  EXPECT_TRUE(FindRoute("POST", "/pods").status().Is(Reason::kMethodNotAllowed));
  EXPECT_TRUE(FindRoute("GET", "/run/a/b/c").status().Is(Reason::kMethodNotAllowed));
}

class NodeServerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    runtime_.Publish("busybox");
    cri::v1::PodSandboxConfig sandbox;
    const runtime::PodName name{"u", "default", "web"};
    runtime::MarkSandbox(name, 0, &sandbox);
    pods_.sandbox = *runtime_.RunSandbox(ctx_, sandbox, "");
    cri::v1::ContainerConfig config;
    config.image = cri::v1::ImageSpec{
        .image = *runtime_.PullImage(ctx_, {.image = "busybox"}, nullptr, sandbox)};
    runtime::MarkContainer(name, "main", 0, 1, &config);
    id_ = *runtime_.CreateContainer(ctx_, pods_.sandbox, config, sandbox);
    ASSERT_TRUE(runtime_.StartContainer(ctx_, id_).ok());
    pods_.containers["default/web/main"] = {
        .id = id_, .pod_uid = "u", .running = true, .log_path = folder_ + "/0.log"};
    core::v1::Pod pod;
    pod.metadata.name = "web";
    pod.metadata.namespace_ = "default";
    pods_.pods.push_back(pod);
    StartServer({.anonymous = true, .webhook = false}, "AlwaysAllow");
  }
  void TearDown() override {
    client_.reset();
    server_.reset();
    scope_.Stop();
    scope_.Wait();
    if (streams_ != nullptr) streams_->Stop();
    std::filesystem::remove_all(folder_);
  }

  void StartServer(AuthenticationOptions authentication, const std::string& mode) {
    server_.reset();
    metrics_ = std::make_unique<MetricsRegistry>();
    NodeServerOptions options;
    options.address = "127.0.0.1";
    options.port = 0;
    options.node_name = "node-1";
    options.root_dir = "/";
    options.ips = {"127.0.0.1"};
    options.authentication = std::move(authentication);
    options.authorization.mode = mode;
    options.configz = Value::MakeObject({{"maxPods", 110}});
    if (change_options_) change_options_(&options);
    auto server = NodeServer::Start(
        ctx_, std::move(options),
        {.client = nullptr, .runtime = runtime_, .pods = pods_, .metrics = *metrics_});
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = *std::move(server);
    auto client = net::Client::Create(ctx_, ClientOptions());
    ASSERT_TRUE(client.ok());
    client_ = *std::move(client);
  }
  net::ClientOptions ClientOptions() const {
    net::ClientOptions options;
    options.host = "127.0.0.1";
    options.port = server_->port();
    options.tls_options.insecure = true;
    return options;
  }
  static std::string TextOf(const net::Response& response) {
    std::string text;
    for (const Bytes& piece : response.body) text += piece.view();
    return text;
  }
  net::Response Do(const std::string& method, const std::string& target,
                   net::Headers headers = {}) {
    net::Request request;
    request.method = method;
    request.target = target;
    request.headers = std::move(headers);
    auto response = client_->Do(ctx_, std::move(request));
    EXPECT_TRUE(response.ok()) << response.status().ToString();
    return response.ok() ? *std::move(response) : net::Response{.status = 0};
  }
  std::string Get(const std::string& target, int status = 200) {
    const net::Response response = Do("GET", target);
    EXPECT_EQ(response.status, status) << target << ": " << TextOf(response);
    return TextOf(response);
  }
  void Append(const std::string& text) {
    std::ofstream(folder_ + "/0.log", std::ios::app)
        << "2026-01-02T03:04:05.5Z stdout F " << text << "\n";
  }
  // The runtime's streaming server: sends the request's path, then echoes.
  void StartStreams(int status = 101) {
    net::ServerOptions options;
    options.bind_address = "127.0.0.1";
    auto server = net::Server::Start(ctx_, options, [this, status](net::ExchangePtr exchange) {
      if (status != 101) {
        return exchange->Send({.status = status,
                               .headers = {{"location", "http://127.0.0.1:1/"}},
                               .body = {Bytes(std::string("no"))}});
      }
      EXPECT_TRUE(
          scope_
              .Go("echo",
                  [exchange = std::move(exchange)](Context& ctx) {
                    const std::string path(exchange->request().path());
                    auto stream = exchange->SwitchProtocols({{"x-stream-protocol-version", "v4"}});
                    ASSERT_TRUE(stream.ok());
                    ASSERT_TRUE((*stream)->Write(ctx, path + "\n").ok());
                    for (;;) {
                      const auto bytes = (*stream)->Read(ctx);
                      if (!bytes.ok() || bytes->view().empty()) break;
                      if (!(*stream)->Write(ctx, bytes->view()).ok()) break;
                    }
                    (*stream)->EndWriting();
                  })
              .ok());
    });
    ASSERT_TRUE(server.ok());
    streams_ = *std::move(server);
    runtime_.SetStreamServer("http://127.0.0.1:" + std::to_string(streams_->port()));
  }
  Result<net::Upgraded> Upgrade(const std::string& target) {
    net::Request request;
    request.method = "POST";
    request.target = target;
    request.headers = {
        {"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", "v4"}};
    return net::ConnectUpgrade(ctx_, ClientOptions(), std::move(request));
  }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(std::chrono::seconds(60));
  const std::string folder_ = testing::TempDir() + "node-server-" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
  runtime::FakeRuntime runtime_{clock_};
  TestPods pods_;
  std::string id_;
  Scope scope_{ctx_, "streams"};
  std::unique_ptr<net::Server> streams_;
  std::function<void(NodeServerOptions*)> change_options_;
  std::unique_ptr<MetricsRegistry> metrics_;
  std::unique_ptr<NodeServer> server_;
  std::unique_ptr<net::Client> client_;
};

TEST_F(NodeServerTest, ServesPodsMetricsAndStats) {
  EXPECT_EQ(Get("/healthz"), "ok");
  const auto pods = json::Parse(Get("/pods"));
  ASSERT_TRUE(pods.ok());
  EXPECT_EQ(pods->Find("kind")->as_string(), "PodList");
  EXPECT_EQ(pods->Find("items")->as_array().size(), 1u);
  EXPECT_THAT(Get("/runningpods/"), HasSubstr("\"name\":\"main\""));
  EXPECT_THAT(Get("/configz"), HasSubstr("\"kubeletconfig\":{\"maxPods\":110}"));
  EXPECT_THAT(Get("/metrics"), HasSubstr("kubelet_http_requests_total"));
  EXPECT_THAT(Get("/metrics/resource"), HasSubstr("node_cpu_usage_seconds_total"));
  EXPECT_THAT(Get("/metrics/cadvisor"), HasSubstr("machine_cpu_cores"));
  const auto summary = json::Parse(Get("/stats/summary"));
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->At({"node", "nodeName"})->as_string(), "node-1");
  EXPECT_EQ(summary->Find("pods")->as_array().size(), 1u);
  Get("/nothing", 404);
  pods_.ready = Status::Internal("PLEG is not healthy");
  EXPECT_THAT(Get("/healthz", 500), HasSubstr("PLEG is not healthy"));
}

TEST_F(NodeServerTest, ServesLogs) {
  Append("one");
  Append("two");
  EXPECT_EQ(Get("/containerLogs/default/web/main"), "one\ntwo\n");
  EXPECT_EQ(Get("/containerLogs/default/web/main?tailLines=1&timestamps=true"),
            "2026-01-02T03:04:05.5Z two\n");
  EXPECT_EQ(Get("/containerLogs/default/web/main?tailLines=0"), "");
  EXPECT_EQ(Get("/containerLogs/default/web/main?previous=true", 404), "pod does not exist");
  EXPECT_EQ(Get("/containerLogs/default/other/main", 404), "pod does not exist");
  Get("/containerLogs/default/web/main?tailLines=-1", 422);
}

TEST_F(NodeServerTest, FollowsLogsUntilContainerEnds) {
  Append("one");
  net::Request request;
  request.method = "GET";
  request.target = "/containerLogs/default/web/main?follow=true";
  auto stream = client_->Start(ctx_, std::move(request));
  ASSERT_TRUE(stream.ok()) << stream.status().ToString();
  EXPECT_EQ((*stream)->status(), 200);
  EXPECT_EQ((*stream)->Read(ctx_)->view(), "one\n");
  Append("two");
  EXPECT_EQ((*stream)->Read(ctx_)->view(), "two\n");
  runtime_.Exit(id_, 0);
  Append("last words");
  std::string rest;
  for (;;) {
    const auto bytes = (*stream)->Read(ctx_);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    if (bytes->view().empty()) break;
    rest += bytes->view();
  }
  EXPECT_EQ(rest, "last words\n");
}

TEST_F(NodeServerTest, LargeLogsAreSentCompletely) {
  std::ofstream log(folder_ + "/0.log");
  const std::string text(1000, 'x');
  for (int i = 0; i < 5000; ++i) log << "2026-01-02T03:04:05.5Z stdout F " << text << "\n";
  log.close();
  EXPECT_EQ(Get("/containerLogs/default/web/main").size(), 5000u * 1001);
}

TEST_F(NodeServerTest, StreamsAreProxiedToRuntime) {
  StartStreams();
  const std::pair<std::string, std::string> cases[] = {
      {"/exec/default/web/main?command=ls&output=1", "/exec/" + id_ + "\n"},
      {"/attach/default/web/main?input=1", "/attach/" + id_ + "\n"},
      {"/portForward/default/web", "/portforward/" + pods_.sandbox + "\n"}};
  for (const auto& [target, greeting] : cases) {
    auto upgraded = Upgrade(target);
    ASSERT_TRUE(upgraded.ok()) << upgraded.status().ToString();
    ASSERT_EQ(upgraded->answer.status, 101) << TextOf(upgraded->answer);
    EXPECT_EQ(upgraded->answer.headers.Get("x-stream-protocol-version"), "v4");
    EXPECT_EQ(upgraded->stream->Read(ctx_)->view(), greeting);
    ASSERT_TRUE(upgraded->stream->Write(ctx_, "hello").ok());
    EXPECT_EQ(upgraded->stream->Read(ctx_)->view(), "hello");
    upgraded->stream->EndWriting();
    EXPECT_THAT(upgraded->stream->Read(ctx_)->view(), IsEmpty());
  }
}

TEST_F(NodeServerTest, RejectsInvalidStreams) {
  StartStreams(302);
  // A redirect by the runtime is neither followed nor passed to the client.
  EXPECT_EQ(Upgrade("/exec/default/web/main?command=ls&output=1")->answer.status, 502);
  EXPECT_EQ(Upgrade("/exec/default/web/main?command=ls")->answer.status, 400);
  EXPECT_EQ(Upgrade("/exec/default/web/main?output=1")->answer.status, 400);
  EXPECT_EQ(Upgrade("/exec/default/web/other?command=ls&output=1")->answer.status, 404);
  EXPECT_EQ(Upgrade("/portForward/default/web?port=x")->answer.status, 400);
  EXPECT_EQ(Do("POST", "/exec/default/web/main?command=ls&output=1").status, 400);
  pods_.containers["default/web/main"].running = false;
  EXPECT_EQ(Upgrade("/exec/default/web/main?command=ls&output=1")->answer.status, 404);
}

TEST_F(NodeServerTest, DebuggingHandlersCanBeDisabled) {
  change_options_ = [](NodeServerOptions* options) { options->enable_debugging_handlers = false; };
  StartServer({.anonymous = true, .webhook = false}, "AlwaysAllow");
  for (const auto& [method, target] :
       {std::pair("POST", "/exec/default/web/main?command=ls&output=1"),
        std::pair("GET", "/exec/default/web/main?command=ls&output=1"),
        std::pair("POST", "/attach/default/web/main?output=1"),
        std::pair("POST", "/portForward/default/web"),
        std::pair("POST", "/run/default/web/main?cmd=ls"),
        std::pair("GET", "/containerLogs/default/web/main"), std::pair("GET", "/runningpods/"),
        std::pair("GET", "/configz")}) {
    EXPECT_EQ(Do(method, target).status, 405) << target;
  }
  for (const char* target : {"/healthz", "/pods", "/metrics"}) Get(target);
}

TEST_F(NodeServerTest, SilentStreamsAreClosed) {
  change_options_ = [](NodeServerOptions* options) {
    options->stream_idle_timeout = std::chrono::milliseconds(50);
  };
  StartServer({.anonymous = true, .webhook = false}, "AlwaysAllow");
  StartStreams();
  const auto upgraded = Upgrade("/exec/default/web/main?command=ls&output=1");
  ASSERT_TRUE(upgraded.ok()) << upgraded.status().ToString();
  EXPECT_EQ(upgraded->stream->Read(ctx_)->view(), "/exec/" + id_ + "\n");
  const auto end = upgraded->stream->Read(ctx_);
  EXPECT_TRUE(!end.ok() || end->view().empty());
  EXPECT_FALSE(ctx_.Done());
}

// CVE-2020-8551: each label value in a request made another time series.
TEST_F(NodeServerTest, RequestsCannotCreateLabelValues) {
  for (int i = 0; i < 50; ++i) {
    const std::string name = "x" + std::to_string(i);
    for (const char* method : {"GET", "POST", "PUT", "DELETE", "OPTIONS", "BREW"}) {
      for (const char* path :
           {"/", "/containerLogs/default/", "/exec/", "/stats/", "/metrics/", "/pods/"}) {
        for (const char* rest : {"/a?command=", "/a/b?command="}) {
          (void)Do(method, std::string(path).append(name).append(rest).append(name));
        }
      }
    }
  }
  const std::string metrics = metrics_->Render();
  EXPECT_EQ(metrics.find("x1"), metrics.npos);
  size_t series = 0;
  for (size_t at = 0; (at = metrics.find("\nkubelet_http_requests_total{", at)) != metrics.npos;
       ++at) {
    ++series;
  }
  EXPECT_GT(series, 0U);
  EXPECT_LE(series, 10U) << metrics;
}

TEST_F(NodeServerTest, RunReturnsOutputAndExitStatus) {
  runtime_.SetExec([](const std::string&,
                      const runtime::FakeRuntime::Command& command) -> Result<runtime::ExecResult> {
    return runtime::ExecResult{command.back() == "fail" ? 3 : 0, "out\n", "err\n"};
  });
  EXPECT_EQ(TextOf(Do("POST", "/run/default/web/main?cmd=echo+hi")), "out\nerr\n");
  EXPECT_EQ(Do("POST", "/run/default/web/main?cmd=fail").status, 500);
  EXPECT_EQ(Do("POST", "/run/default/web/main").status, 400);
}

// Client certificates of the configured CA authenticate; a changed serving certificate is reloaded.
TEST_F(NodeServerTest, ReloadsServingCertificateAndVerifiesClientCertificates) {
  const auto put = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/new") << text;
    std::filesystem::rename(folder_ + "/new", folder_ + "/" + name);
  };
  const auto ca = net::MakeCertificate({.common_name = "ca", .is_ca = true}, nullptr);
  const auto serving = [&](const std::string& name) {
    const auto pair = net::MakeCertificate({.common_name = name, .dns_names = {name}}, &*ca);
    put("server.key", pair->key_pem);
    put("server.crt", pair->certificate_pem);
  };
  const auto client = net::MakeCertificate(
      {.common_name = "admin", .organizations = {"system:masters"}, .client_auth = true}, &*ca);
  put("ca.crt", ca->certificate_pem);
  serving("first");
  NodeServerOptions options;
  options.address = "127.0.0.1";
  options.port = 0;
  options.tls_cert_file = folder_ + "/server.crt";
  options.tls_private_key_file = folder_ + "/server.key";
  options.authentication = {.webhook = false, .client_ca_file = folder_ + "/ca.crt"};
  options.authorization.mode = "AlwaysAllow";
  MetricsRegistry metrics;
  const auto server =
      NodeServer::Start(ctx_, options, {.runtime = runtime_, .pods = pods_, .metrics = metrics});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  const auto ask = [&](const std::string& name, bool with_certificate) {
    net::ClientOptions to;
    to.host = "127.0.0.1";
    to.port = (*server)->port();
    to.tls_options.ca_pem = ca->certificate_pem;
    to.tls_options.server_name = name;
    if (with_certificate) {
      to.tls_options.certificate_pem = client->certificate_pem;
      to.tls_options.key_pem = client->key_pem;
    }
    auto one = net::Client::Create(ctx_, to);
    net::Request request;
    request.method = "GET";
    request.target = "/healthz";
    const auto answer = (*one)->Do(ctx_, std::move(request));
    return answer.ok() ? answer->status : 0;
  };
  EXPECT_EQ(ask("first", true), 200);
  EXPECT_EQ(ask("first", false), 401);
  EXPECT_EQ(ask("second", true), 0);
  serving("second");
  int status = 0;
  while (status == 0 && !ctx_.Done()) status = ask("second", true);
  EXPECT_EQ(status, 200);
}

TEST_F(NodeServerTest, RejectsRequestsWithoutCredentials) {
  StartServer({}, "Webhook");
  Get("/pods", 401);
  Get("/healthz", 401);
  Get("/nothing", 401);
  EXPECT_EQ(Do("GET", "/pods", {{"authorization", "Bearer x"}}).status, 401);
  // Authenticated as anonymous, but not authorized.
  StartServer({.anonymous = true}, "Webhook");
  EXPECT_THAT(Get("/pods", 403), HasSubstr("subresource(s)=[pods proxy]"));
}

}  // namespace
}  // namespace cox::kubelet
