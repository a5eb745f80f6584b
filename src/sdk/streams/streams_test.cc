// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>

#include "base/scope.h"
#include "coxswain/pod_streams.h"
#include "net/tcp.h"
#include "sdk/streams/peer/pod_peer.h"

namespace cox::sdk {
namespace {

// A log that ends in the middle of a line.
net::Handler HalfALine() {
  struct Source final : net::BodySource {
    State Pull(size_t, std::vector<Bytes>* out) override {
      if (!std::exchange(given, true)) out->push_back(Bytes::Static("half"));
      return State::kWait;
    }
    bool given = false;
  };
  return [](net::ExchangePtr exchange) {
    exchange->Stream(200, {{"content-type", "text/plain"}}, std::make_unique<Source>());
  };
}

// Uses real time, because the kernel's sockets do.
class PodStreams : public ::testing::Test {
 protected:
  void Start(bool v5 = true) {
    peer_.emplace(context_, PodPeer::Options{.v5 = v5, .server = {}});
    auto connected =
        Connect(context_, {.server = "http://127.0.0.1:" + std::to_string(peer_->port())});
    ASSERT_TRUE(connected.ok()) << connected.status().ToString();
    client_ = *std::move(connected);
  }
  Result<std::unique_ptr<ContainerProcess>> Run(ExecOptions options) {
    return Exec(context_, *client_, pod_, options);
  }
  std::string NextOutput(ContainerProcess& process) {
    const auto output = process.Read(context_);
    if (!output.ok()) return output.status().ToString();
    return output->has_value() ? std::string((*output)->bytes.view()) : "end";
  }

  RealClock clock_;
  // Timeout of each test.
  Context context_ = Context(clock_).WithTimeout(std::chrono::seconds(60));
  const ObjectKey pod_{"default", "web"};
  std::optional<PodPeer> peer_;
  std::unique_ptr<Client> client_;
};

TEST_F(PodStreams, ExecOutputSeparatesStdoutAndStderr) {
  for (const bool v5 : {true, false}) {
    Start(v5);
    const auto result = ExecOutput(context_, *client_, pod_, {.command = {"both"}});
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(result->output, "out");
    EXPECT_EQ(result->error_output, "err");
    EXPECT_EQ(result->exit_code, 0);
  }
}

TEST_F(PodStreams, ArgumentsArePassedUnchanged) {
  Start();
  const auto result =
      ExecOutput(context_, *client_, pod_,
                 {.container = "main", .command = {"echo", "a b", "", "&c=d?", "\xc3\xa4+%", "#"}});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->output, "a b  &c=d? \xc3\xa4+% #\n");
}

TEST_F(PodStreams, ExitCodesAreResultsAndOtherFailuresErrors) {
  Start();
  EXPECT_EQ(ExecOutput(context_, *client_, pod_, {.command = {"exit", "3"}})->exit_code, 3);
  auto process = Run({.command = {"exit", "137"}});
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(*(*process)->Wait(context_), 137);
  EXPECT_EQ(*(*process)->Wait(context_), 137);

  const auto unknown = ExecOutput(context_, *client_, pod_, {.command = {"nosuch"}});
  EXPECT_TRUE(unknown.status().Is(Reason::kInternalError)) << unknown.status().ToString();
  EXPECT_NE(unknown.status().message().find("executable file not found"), std::string::npos);
}

TEST_F(PodStreams, ServerErrorsAreReturned) {
  Start();
  const auto missing = Exec(context_, *client_, {"default", "missing"}, {.command = {"both"}});
  EXPECT_EQ(missing.status(), Status::NotFound("pods \"missing\" not found"));
  EXPECT_EQ(Run({.container = "other", .command = {"both"}}).status().code(), 400);
  EXPECT_TRUE(Run({}).status().Is(Reason::kBadRequest));
  EXPECT_TRUE(Exec(context_, *client_, {"default", "../web"}, {.command = {"both"}})
                  .status()
                  .Is(Reason::kBadRequest));
  const auto log = Logs(context_, *client_, {"default", "missing"});
  EXPECT_TRUE(log.status().Is(Reason::kNotFound)) << log.status().ToString();
  EXPECT_EQ(log.status().message(), "pods \"missing\" not found");
}

TEST_F(PodStreams, StdinIsSentAndClosed) {
  Start();
  auto process = Run({.command = {"cat"}, .attach_stdin = true});
  ASSERT_TRUE(process.ok()) << process.status().ToString();
  for (const std::string line : {"one\n", "two\n"}) {
    ASSERT_TRUE((*process)->Write(context_, line).ok());
    EXPECT_EQ(NextOutput(**process), line);
  }
  ASSERT_TRUE((*process)->CloseStdin(context_).ok());
  EXPECT_EQ(NextOutput(**process), "end");
  EXPECT_EQ(*(*process)->Wait(context_), 0);
}

TEST_F(PodStreams, LargeInputAndOutputDoNotDeadlock) {
  Start();
  std::string input;
  for (int i = 0; input.size() < 8'000'000; ++i) input += std::to_string(i) + "\n";
  const auto result = ExecOutput(context_, *client_, pod_, {.command = {"cat"}}, input);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->output, input);
}

TEST_F(PodStreams, V4RejectsCloseStdin) {
  Start(/*v5=*/false);
  auto process = Run({.command = {"cat"}, .attach_stdin = true});
  ASSERT_TRUE(process.ok());
  EXPECT_FALSE((*process)->can_close_stdin());
  EXPECT_TRUE((*process)->CloseStdin(context_).Is(Reason::kMethodNotAllowed));
  ASSERT_TRUE((*process)->Write(context_, "still").ok());
  EXPECT_EQ(NextOutput(**process), "still");
  EXPECT_TRUE(ExecOutput(context_, *client_, pod_, {.command = {"cat"}}, "x")
                  .status()
                  .Is(Reason::kMethodNotAllowed));
}

TEST_F(PodStreams, TerminalsHaveASizeAndNoStderr) {
  Start();
  auto process = Run({.command = {"size"}, .attach_stdin = true, .tty = true});
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE((*process)->Resize(context_, 132, 43).ok());
  EXPECT_EQ(NextOutput(**process), "132x43\n");
  EXPECT_EQ(*(*process)->Wait(context_), 0);
  EXPECT_EQ(
      peer_->targets().back(),
      "/api/v1/namespaces/default/pods/web/exec?command=size&stdin=true&stdout=true&tty=true");
}

TEST_F(PodStreams, SlowReaderBlocksTheProcess) {
  Start();
  constexpr size_t kTotal = 64'000'000;
  auto process = Run({.command = {"flood", std::to_string(kTotal)}});
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(NextOutput(**process).size(), 32U * 1024);
  // Without a reader the flood stops when the kernel's buffers and both windows are full.
  size_t before = 0;
  for (int rounds = 0; rounds < 100 && (before == 0 || before != peer_->flooded()); ++rounds) {
    before = peer_->flooded();
    ASSERT_TRUE(context_.Sleep(std::chrono::milliseconds(100)).ok());
  }
  EXPECT_LT(peer_->flooded(), kTotal / 2);
  size_t read = 32 * 1024;
  for (;;) {
    const auto output = (*process)->Read(context_);
    ASSERT_TRUE(output.ok()) << output.status().ToString();
    if (!output->has_value()) break;
    read += (*output)->bytes.size();
  }
  EXPECT_EQ(read, kTotal);
  EXPECT_EQ(*(*process)->Wait(context_), 0);
}

TEST_F(PodStreams, OutputIsBounded) {
  Start();
  const auto result =
      ExecOutput(context_, *client_, pod_, {.command = {"flood", "100000"}}, "", 99'999);
  EXPECT_TRUE(result.status().Is(Reason::kRequestEntityTooLarge)) << result.status().ToString();
}

TEST_F(PodStreams, LostConnectionIsAnError) {
  Start();
  auto process = Run({.command = {"break"}, .attach_stdin = true});
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(NextOutput(**process), "partial");
  ASSERT_TRUE((*process)->Write(context_, "now").ok());
  const auto code = (*process)->Wait(context_);
  EXPECT_TRUE(code.status().Is(Reason::kServiceUnavailable)) << code.status().ToString();
}

TEST_F(PodStreams, StoppedContextEndsWait) {
  Start();
  auto process = Run({.command = {"hang"}});
  ASSERT_TRUE(process.ok());
  Context soon = context_.WithTimeout(std::chrono::milliseconds(50));
  EXPECT_TRUE((*process)->Wait(soon).status().Is(Reason::kTimeout));
}

TEST_F(PodStreams, AttachConnectsToTheRunningProcess) {
  Start();
  auto process = Attach(context_, *client_, pod_, {.attach_stdin = true});
  ASSERT_TRUE(process.ok()) << process.status().ToString();
  EXPECT_EQ(NextOutput(**process), "attached\n");
  ASSERT_TRUE((*process)->Write(context_, "hello").ok());
  EXPECT_EQ(NextOutput(**process), "hello");
  ASSERT_TRUE((*process)->CloseStdin(context_).ok());
  EXPECT_EQ(*(*process)->Wait(context_), 0);
}

TEST_F(PodStreams, AllStreamsWorkOverTheInProcessTransport) {
  Start();
  client_ = MakeClient(MakeInProcessTransport(context_, peer_->handler(), "Bearer x"));
  std::string input;
  for (int i = 0; input.size() < 2'000'000; ++i) input += std::to_string(i) + "\n";
  const auto result = ExecOutput(context_, *client_, pod_, {.command = {"cat"}}, input);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->output, input);
  EXPECT_EQ(Exec(context_, *client_, {"default", "missing"}, {.command = {"both"}}).status(),
            Status::NotFound("pods \"missing\" not found"));

  auto echo = PortForward(context_, *client_, pod_, 7);
  ASSERT_TRUE(echo.ok()) << echo.status().ToString();
  ASSERT_TRUE((*echo)->Write(context_, "ping").ok());
  EXPECT_EQ((*echo)->Read(context_)->view(), "ping");

  peer_->log().Append("line");
  auto log = Logs(context_, *client_, pod_);
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(**(*log)->ReadLine(context_), "line");

  auto hangs = Run({.command = {"hang"}});
  ASSERT_TRUE(hangs.ok());
  hangs->reset();  // otherwise the peer would not end
}

TEST_F(PodStreams, ReadsLogsByLine) {
  Start();
  for (const char* line : {"one", "two", "", "four"}) peer_->log().Append(line);
  const auto lines = [this](const LogOptions& options) {
    auto log = Logs(context_, *client_, pod_, options);
    EXPECT_TRUE(log.ok()) << log.status().ToString();
    std::string all;
    for (;;) {
      const auto line = (*log)->ReadLine(context_);
      EXPECT_TRUE(line.ok());
      if (!line.ok() || !line->has_value()) return all;
      all += "[" + **line + "]";
    }
  };
  EXPECT_EQ(lines({}), "[one][two][][four]");
  EXPECT_EQ(lines({.tail_lines = 2}), "[][four]");
  EXPECT_EQ(lines({.limit_bytes = 5}), "[one][t]");
  EXPECT_EQ(lines({.timestamps = true, .tail_lines = 1}), "[2026-01-02T03:04:05.000000006Z four]");
  lines(
      {.container = "main", .previous = true, .since_seconds = 5, .since_time = Time::FromUnix(0)});
  EXPECT_EQ(peer_->targets().back(),
            "/api/v1/namespaces/default/pods/web/log?container=main&previous=true&sinceSeconds=5"
            "&sinceTime=1970-01-01T00:00:00Z");
}

TEST_F(PodStreams, FollowsLogsToTheEnd) {
  Start();
  peer_->log().Append("before");
  auto log = Logs(context_, *client_, pod_, {.follow = true});
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(**(*log)->ReadLine(context_), "before");
  for (const std::string line : {"a", "b", "c"}) {
    peer_->log().Append(line);
    EXPECT_EQ(**(*log)->ReadLine(context_), line);
  }
  Context soon = context_.WithTimeout(std::chrono::milliseconds(20));
  EXPECT_TRUE((*log)->ReadLine(soon).status().Is(Reason::kTimeout));
  peer_->log().Append("last");
  peer_->log().End();
  EXPECT_EQ(**(*log)->ReadLine(context_), "last");
  EXPECT_FALSE((*log)->ReadLine(context_)->has_value());
}

TEST_F(PodStreams, TimeoutWithinALineLosesNoData) {
  Start();
  client_ = MakeClient(MakeInProcessTransport(context_, HalfALine(), ""));
  auto log = Logs(context_, *client_, pod_, {.follow = true});
  ASSERT_TRUE(log.ok());
  for (int i = 0; i < 2; ++i) {
    Context soon = context_.WithTimeout(std::chrono::milliseconds(20));
    EXPECT_TRUE((*log)->ReadLine(soon).status().Is(Reason::kTimeout));
  }
  EXPECT_EQ((*log)->Read(context_)->view(), "half");
}

TEST_F(PodStreams, VeryLongLinesAreSplit) {
  Start();
  peer_->log().Append(std::string((1 << 20) + 10, 'x'));
  auto log = Logs(context_, *client_, pod_);
  ASSERT_TRUE(log.ok());
  EXPECT_EQ((*(*log)->ReadLine(context_))->size(), size_t{1} << 20);
  EXPECT_EQ((*(*log)->ReadLine(context_))->size(), 10U);
  EXPECT_FALSE((*log)->ReadLine(context_)->has_value());
}

TEST_F(PodStreams, PortForwardConnectsToPorts) {
  Start();
  auto echo = PortForward(context_, *client_, pod_, 7);
  ASSERT_TRUE(echo.ok()) << echo.status().ToString();
  ASSERT_TRUE((*echo)->Write(context_, "ping").ok());
  EXPECT_EQ((*echo)->Read(context_)->view(), "ping");
  EXPECT_TRUE((*echo)->Close(context_).ok());

  auto refused = PortForward(context_, *client_, pod_, 9);
  ASSERT_TRUE(refused.ok());
  const auto read = (*refused)->Read(context_);
  EXPECT_TRUE(read.status().Is(Reason::kServiceUnavailable));
  EXPECT_NE(read.status().message().find("connection refused"), std::string::npos);

  auto chars = PortForward(context_, *client_, pod_, 19);
  ASSERT_TRUE(chars.ok());
  size_t size = 0;
  for (;;) {
    const auto bytes = (*chars)->Read(context_);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    if (bytes->empty()) break;
    size += bytes->size();
  }
  EXPECT_EQ(size, 1'000'000U);
}

std::string ReadSome(const Context& ctx, net::TcpSocket& socket, size_t size) {
  std::string all(size, '\0');
  size_t read = 0;
  while (read < size) {
    const auto got = socket.Read(ctx, all.data() + read, size - read);
    if (!got.ok()) return got.status().ToString();
    if (*got == 0) break;
    read += *got;
  }
  all.resize(read);
  return all;
}

TEST_F(PodStreams, ForwardsLocalPorts) {
  Start();
  auto forwarder =
      ListenAndForward(context_, *client_, pod_, {{.remote = 7}, {.remote = 19}, {.remote = 9}});
  ASSERT_TRUE(forwarder.ok()) << forwarder.status().ToString();
  const std::vector<PortMapping> ports = (*forwarder)->ports();
  ASSERT_EQ(ports.size(), 3U);

  // Several concurrent connections.
  Scope scope(context_, "connections");
  std::atomic<int> right = 0;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(scope
                    .Go("connection",
                        [&, i](Context& ctx) {
                          auto socket = net::TcpSocket::Connect(ctx, "127.0.0.1", ports[0].local);
                          ASSERT_TRUE(socket.ok());
                          const std::string text(200'000, static_cast<char>('a' + i));
                          for (int n = 0; n < 3; ++n) {
                            ASSERT_TRUE((*socket)->Write(ctx, text).ok());
                            if (ReadSome(ctx, **socket, text.size()) == text) ++right;
                          }
                        })
                    .ok());
  }
  scope.Wait();
  EXPECT_EQ(right, 15);

  auto chars = net::TcpSocket::Connect(context_, "127.0.0.1", ports[1].local);
  ASSERT_TRUE(chars.ok());
  EXPECT_EQ(ReadSome(context_, **chars, 2'000'000).size(), 1'000'000U);
  auto refused = net::TcpSocket::Connect(context_, "127.0.0.1", ports[2].local);
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(ReadSome(context_, **refused, 1), "");
}

TEST_F(PodStreams, DestroyingTheForwarderClosesItsConnections) {
  Start();
  auto forwarder = ListenAndForward(context_, *client_, pod_, {{.remote = 7}});
  ASSERT_TRUE(forwarder.ok());
  auto socket = net::TcpSocket::Connect(context_, "127.0.0.1", (*forwarder)->ports()[0].local);
  ASSERT_TRUE(socket.ok());
  ASSERT_TRUE((*socket)->Write(context_, "x").ok());
  ASSERT_EQ(ReadSome(context_, **socket, 1), "x");
  forwarder->reset();
  EXPECT_EQ(ReadSome(context_, **socket, 1), "");
}

}  // namespace
}  // namespace cox::sdk
