// SPDX-License-Identifier: Apache-2.0
#include "runtime/cri/client.h"

#include <chrono>
#include <utility>

#include "runtime/cri/convert.h"

namespace cox::runtime {
namespace {

using Outcome = net::grpc::Reply::Outcome;

// A closed Unix socket is detected at once, so no keepalive pings are needed; containerd closes
// connections that ping more often than every five minutes, and a pull may take longer.
constexpr std::chrono::hours kKeepalive{1};
constexpr int kAttempts = 3;

Result<std::string> ResultOf(const Context& ctx, std::string_view method, net::grpc::Reply reply) {
  switch (reply.outcome) {
    case Outcome::kMessage:
      return std::move(reply.message);
    case Outcome::kStatus:
      return CallError(method, reply.code, reply.text);
    case Outcome::kStopped:
      return ctx.status();
    case Outcome::kBroken:
      return Status::Unavailable(std::string(method) + ": the runtime went away: " + reply.text);
    case Outcome::kRefused:  // not processed by the runtime
      break;
  }
  return Status::Unavailable(std::string(method) + ": " + reply.text);
}

}  // namespace

Result<std::unique_ptr<CriClient>> CriClient::Create(const Context& ctx,
                                                     std::string_view endpoint) {
  net::grpc::Channel::Options options;
  COX_ASSIGN_OR_RETURN(net::grpc::Endpoint server, net::grpc::Endpoint::Unix(endpoint));
  options.endpoints = {std::move(server)};
  options.connection.keepalive_time = kKeepalive;
  COX_ASSIGN_OR_RETURN(auto calls, net::grpc::Channel::Create(ctx, "cri-calls", options));
  COX_ASSIGN_OR_RETURN(auto streams, net::grpc::Channel::Create(ctx, "cri-events", options));
  return std::make_unique<CriClient>(ctx, std::move(calls), std::move(streams));
}

Result<std::string> CriClient::Send(const Context& ctx, std::string_view method,
                                    const std::string& message) {
  const std::string framed = net::grpc::Framed(message);
  for (int attempt = 1;; ++attempt) {
    COX_ASSIGN_OR_RETURN(const auto connection, calls_->Get(ctx));
    net::grpc::Reply reply = connection->Call(ctx, method, framed);
    if (reply.outcome != Outcome::kRefused || attempt == kAttempts) {
      return ResultOf(ctx, method, std::move(reply));
    }
  }
}

void CriClient::SendAsync(const Context& ctx, std::string_view method, const std::string& message,
                          std::function<void(Result<std::string>)> done) {
  Attempt(ctx, {method, net::grpc::Framed(message), std::move(done)}, 1);
}

void CriClient::Attempt(const Context& ctx, const AsyncCall& call, int attempt) {
  const auto connection = calls_->Get(ctx);
  if (!connection.ok()) return call.done(connection.status());
  const auto end = [this, ctx, call, attempt](net::grpc::Reply reply) {
    // The next attempt may wait for a new connection, which this thread must not do.
    if (reply.outcome == Outcome::kRefused && attempt < kAttempts &&
        retries_.Submit([this, ctx, call, attempt] { Attempt(ctx, call, attempt + 1); })) {
      return;
    }
    call.done(ResultOf(ctx, call.method, std::move(reply)));
  };
  (*connection)->CallAsync(ctx, call.method, call.framed, end);
}

Result<std::unique_ptr<net::grpc::MessageStream>> CriClient::Open(const Context& ctx,
                                                                  std::string_view method,
                                                                  const std::string& message) {
  COX_ASSIGN_OR_RETURN(const auto connection, streams_->Get(ctx));
  return connection->Start(method, net::grpc::Framed(message));
}

}  // namespace cox::runtime
