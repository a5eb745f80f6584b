// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "base/clock.h"
#include "net/byte_stream.h"
#include "net/client.h"
#include "net/grpc/channel.h"
#include "net/testing/hostile_server.h"
#include "net/websocket.h"

// Every client of this module against every response of a hostile server.
namespace cox::net {
namespace {

using namespace std::chrono_literals;

// A client makes one call to a server on a port, and returns how it ended.
struct ClientKind {
  std::string name;
  std::vector<Hostility> hostilities;
  std::function<Status(Context& ctx, uint16_t port)> call;

  friend void PrintTo(const ClientKind& client, std::ostream* out) { *out << client.name; }
};

ClientOptions OptionsFor(uint16_t port, bool http2) {
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = port;
  options.tls = false;
  options.http2 = http2;
  options.max_response_bytes = size_t{1024} * 1024;
  return options;
}

Status Do(Context& ctx, uint16_t port, bool http2) {
  COX_ASSIGN_OR_RETURN(const auto client, Client::Create(ctx, OptionsFor(port, http2)));
  return client->Do(ctx, {.method = "GET", .target = "/"}).status();
}

Status Stream(Context& ctx, uint16_t port, bool http2) {
  COX_ASSIGN_OR_RETURN(const auto client, Client::Create(ctx, OptionsFor(port, http2)));
  COX_ASSIGN_OR_RETURN(const auto stream, client->Start(ctx, {.method = "GET", .target = "/"}));
  while (true) {
    COX_ASSIGN_OR_RETURN(const Bytes piece, stream->Read(ctx));
    if (piece.empty()) return {};
  }
}

Status Upgrade(Context& ctx, uint16_t port) {
  Request request{.method = "GET", .target = "/"};
  request.headers.Add("upgrade", "SPDY/3.1");
  COX_ASSIGN_OR_RETURN(const Upgraded upgraded,
                       ConnectUpgrade(ctx, OptionsFor(port, false), std::move(request)));
  return upgraded.stream == nullptr ? Status::BadRequest("no upgrade") : Status();
}

Status Socket(Context& ctx, uint16_t port) {
  return ConnectWebSocket(ctx, OptionsFor(port, false), {.method = "GET", .target = "/"},
                          {"v5.channel.k8s.io"}, {}, nullptr)
      .status();
}

Result<std::unique_ptr<grpc::Channel>> NewChannel(Context& ctx, uint16_t port) {
  grpc::Channel::Options options;
  options.endpoints = {{.host = "127.0.0.1", .port = port}};
  return grpc::Channel::Create(ctx, "hostile", std::move(options));
}

Status Call(Context& ctx, uint16_t port) {
  COX_ASSIGN_OR_RETURN(const auto channel, NewChannel(ctx, port));
  COX_ASSIGN_OR_RETURN(const auto connection, channel->Get(ctx));
  const grpc::Reply reply = connection->Call(ctx, "/test/Call", std::string(5, '\0'));
  if (reply.outcome == grpc::Reply::Outcome::kMessage) return {};
  return Status::Unavailable(reply.text);
}

std::vector<ClientKind> Clients() {
  return {
      {"Http1Do", HostileHttp1(), [](Context& c, uint16_t p) { return Do(c, p, false); }},
      {"Http1Stream", HostileHttp1(), [](Context& c, uint16_t p) { return Stream(c, p, false); }},
      {"Http1Upgrade", HostileHttp1(), Upgrade},
      {"WebSocket", HostileHttp1(), Socket},
      {"Http2Do", HostileHttp2(), [](Context& c, uint16_t p) { return Do(c, p, true); }},
      {"Http2Stream", HostileHttp2(), [](Context& c, uint16_t p) { return Stream(c, p, true); }},
      {"Grpc", HostileHttp2(), Call},
  };
}

class HostileServerTest : public testing::TestWithParam<ClientKind> {};

TEST_P(HostileServerTest, CallsEndWithErrorAndBoundedMemory) {
  ExpectLimits(GetParam().hostilities, HostileTransport::kTcp,
               [](Context& ctx, const HostileServer& server) {
                 return GetParam().call(ctx, server.port());
               });
}

INSTANTIATE_TEST_SUITE_P(All, HostileServerTest, testing::ValuesIn(Clients()),
                         [](const auto& info) { return info.param.name; });

TEST(HostileServer, NamesThatResolveToForbiddenAddressesAreNotDialled) {
  RealClock clock;
  Context ctx = Context(clock).WithTimeout(60s);
  HostileServer server(ctx, {.name = "HangUp", .hangs_up = true});
  std::vector<std::string> asked;
  for (const char* host : {"127.0.0.1", "localhost"}) {
    ClientOptions options = OptionsFor(server.port(), false);
    options.host = host;
    options.allow_address = [&](const std::string& ip, uint16_t port) {
      EXPECT_EQ(port, server.port());
      asked.push_back(ip);
      return false;
    };
    const auto client = *Client::Create(ctx, std::move(options));
    const Status status = client->Do(ctx, {.method = "GET", .target = "/"}).status();
    EXPECT_TRUE(status.Is(Reason::kBadRequest)) << status.ToString();
    EXPECT_EQ(status.message(), "address not allowed");
  }
  EXPECT_GE(asked.size(), 2U);
}

}  // namespace
}  // namespace cox::net
