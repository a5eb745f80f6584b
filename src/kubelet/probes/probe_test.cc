// SPDX-License-Identifier: Apache-2.0
#include "kubelet/probes/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mutex.h"
#include "kubelet/testing/run_probe.h"
#include "net/server.h"
#include "net/tcp.h"

namespace cox::kubelet {
namespace {

using testing::RunProbe;

using Kind = ProbeReply::Kind;
using ::testing::HasSubstr;

std::string GrpcFrame(const std::string& message) {
  std::string frame(5, '\0');
  frame[4] = static_cast<char>(message.size());
  return frame + message;
}

// Uses a server in place of a container.
class ProbeTest : public ::testing::Test {
 protected:
  void Serve(std::shared_ptr<const net::ServerTls> tls = nullptr) {
    auto server =
        net::Server::Start(ctx_, {.bind_address = "127.0.0.1", .loops = 1, .tls = std::move(tls)},
                           [this](net::ExchangePtr exchange) { Answer(exchange); });
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(*server);
  }
  void Answer(const net::ExchangePtr& exchange) {
    net::Request& request = exchange->request();
    {
      MutexLock lock(mu_);
      headers_ = request.headers;
    }
    net::Response response;
    const std::string target = request.target;
    if (target.starts_with("/code/")) response.status = std::stoi(target.substr(6));
    if (target == "/again") {
      response.status = 302;
      response.headers.Add("location", "/code/204");
    }
    if (target == "/away") {
      response.status = 302;
      response.headers.Add("location", "http://192.0.2.1/");
    }
    if (target == "/loop") {
      response.status = 301;
      response.headers.Add("location", "/loop");
    }
    if (target == "/hang") {
      MutexLock lock(mu_);
      hanging_.push_back(exchange);
      return;
    }
    if (target == "/grpc.health.v1.Health/Check") {
      response.headers.Add("content-type", "application/grpc");
      const bool named = request.body == GrpcFrame(
                                             "\x0a\x03"
                                             "web");
      response.body.push_back(Bytes(GrpcFrame(named ? "\x08\x02" : "\x08\x01")));
    }
    exchange->Send(std::move(response));
  }
  ProbeTarget Http(const std::string& path) {
    ProbeTarget target{.pod_ip = "127.0.0.1"};
    target.handler.httpGet = core::v1::HTTPGetAction{.path = path, .port = server_->port()};
    return target;
  }

  RealClock clock_;
  Context ctx_{clock_};
  Mutex mu_;
  net::Headers headers_ COX_GUARDED_BY(mu_);
  std::vector<net::ExchangePtr> hanging_ COX_GUARDED_BY(mu_);
  std::unique_ptr<net::Server> server_;
};

TEST_F(ProbeTest, HttpCodes) {
  Serve();
  const struct {
    std::string path;
    Kind want;
    std::string message;
  } kCases[] = {
      {"/code/200", Kind::kSuccess, ""},
      {"code/200", Kind::kSuccess, ""},
      {"/code/399", Kind::kSuccess, ""},
      {"/code/404", Kind::kFailure, "HTTP probe failed with statuscode: 404"},
      {"/code/500", Kind::kFailure, "HTTP probe failed with statuscode: 500"},
      {"/again", Kind::kSuccess, ""},
      {"/away", Kind::kSuccess, "Probe terminated redirects"},
      {"/loop", Kind::kFailure, "stopped after 10 redirects"},
  };
  for (const auto& c : kCases) {
    const ProbeReply reply = RunProbe(ctx_, Http(c.path), {});
    EXPECT_EQ(reply.kind, c.want) << c.path << reply.message;
    EXPECT_THAT(reply.message, HasSubstr(c.message));
  }
  MutexLock lock(mu_);
  EXPECT_EQ(headers_.Get("user-agent"), "kube-probe/1.36");
  EXPECT_EQ(headers_.Get("accept"), "*/*");
}

TEST_F(ProbeTest, HttpHeadersOverrideDefaults) {
  Serve();
  ProbeTarget target = Http("/");
  target.handler.httpGet->httpHeaders = {{"X-Custom", "1"}, {"User-Agent", "mine"}, {"Accept", ""}};
  EXPECT_EQ(RunProbe(ctx_, target, {}).kind, Kind::kSuccess);
  MutexLock lock(mu_);
  EXPECT_EQ(headers_.Get("x-custom"), "1");
  EXPECT_EQ(headers_.Get("user-agent"), "mine");
  EXPECT_EQ(headers_.Get("accept"), std::nullopt);
}

TEST_F(ProbeTest, PathCannotInjectHeaders) {
  Serve();
  const ProbeReply reply = RunProbe(ctx_, Http("/code/200 HTTP/1.1\r\nX-Custom: 1\r\n"), {});
  EXPECT_EQ(reply.kind, Kind::kSuccess) << reply.message;
  MutexLock lock(mu_);
  EXPECT_EQ(headers_.Get("x-custom"), std::nullopt);
}

TEST_F(ProbeTest, HttpsAcceptsAnyCertificate) {
  const auto pair = net::MakeCertificate({.common_name = "other"}, nullptr);
  ASSERT_TRUE(pair.ok());
  Serve(*net::ServerTls::Create({.certificate = *pair}));
  ProbeTarget target = Http("/");
  target.handler.httpGet->scheme = "HTTPS";
  const ProbeReply reply = RunProbe(ctx_, target, {});
  EXPECT_EQ(reply.kind, Kind::kSuccess) << reply.message;
}

TEST_F(ProbeTest, MissingResponseIsFailure) {
  Serve();
  EXPECT_EQ(RunProbe(ctx_, Http("/hang"), {}).kind, Kind::kFailure);
  ProbeTarget target = Http("/");
  server_->Stop();
  EXPECT_EQ(RunProbe(ctx_, target, {}).kind, Kind::kFailure);
  target.handler.httpGet->port = "none";
  EXPECT_EQ(RunProbe(ctx_, target, {}).kind, Kind::kError);
}

TEST_F(ProbeTest, Tcp) {
  auto listener = net::TcpListener::Listen("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  ProbeTarget target{.pod_ip = "127.0.0.1"};
  target.container.ports = {{.name = "p", .containerPort = (*listener)->port()}};
  target.handler.tcpSocket = core::v1::TCPSocketAction{.port = "p"};
  EXPECT_EQ(RunProbe(ctx_, target, {}).kind, Kind::kSuccess);
  listener->reset();
  EXPECT_EQ(RunProbe(ctx_, target, {}).kind, Kind::kFailure);
  target.handler.tcpSocket->port = "q";
  EXPECT_EQ(RunProbe(ctx_, target, {}).kind, Kind::kError);
}

TEST_F(ProbeTest, Grpc) {
  Serve();
  ProbeTarget target{.pod_ip = "127.0.0.1"};
  target.handler.grpc = core::v1::GRPCAction{.port = server_->port()};
  ProbeReply reply = RunProbe(ctx_, target, {});
  EXPECT_EQ(reply.kind, Kind::kSuccess) << reply.message;
  target.handler.grpc->service = "web";
  reply = RunProbe(ctx_, target, {});
  EXPECT_EQ(reply.kind, Kind::kFailure);
  EXPECT_EQ(reply.message, "service unhealthy (responded with \"NOT_SERVING\")");
}

TEST_F(ProbeTest, Exec) {
  ProbeTarget target{.container_id = "c1"};
  target.handler.exec = core::v1::ExecAction{.command = {"cat", "/x"}};
  Result<ProbeExecResult> answer = ProbeExecResult{0, "fine"};
  const ProbeExec exec = [&](const Context&, const std::string& id,
                             const List<std::string>& command, std::chrono::seconds,
                             const std::function<void(Result<ProbeExecResult>)>& done) {
    EXPECT_EQ(id, "c1");
    EXPECT_EQ(command.size(), 2U);
    done(answer);
  };
  EXPECT_EQ(RunProbe(ctx_, target, exec).kind, Kind::kSuccess);
  answer = ProbeExecResult{1, "no such file"};
  EXPECT_EQ(RunProbe(ctx_, target, exec).kind, Kind::kFailure);
  EXPECT_EQ(RunProbe(ctx_, target, exec).message, "no such file");
  answer = Status::Timeout("late");
  EXPECT_EQ(RunProbe(ctx_, target, exec).message, "command timed out: cat /x timed out after 1s");
  answer = Status::Unavailable("no runtime");
  EXPECT_EQ(RunProbe(ctx_, target, exec).kind, Kind::kError);
  target.handler.exec.reset();
  EXPECT_EQ(RunProbe(ctx_, target, exec).kind, Kind::kError);
}

}  // namespace
}  // namespace cox::kubelet
