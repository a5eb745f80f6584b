// SPDX-License-Identifier: Apache-2.0
#include "sdk/manager/endpoint.h"

#include <charconv>

#include "base/strings.h"

namespace cox::sdk {
namespace {

// Probes and scrapes are few; who sends more than this waits, or is turned away.
constexpr size_t kThreads = 2;
constexpr size_t kQueue = 64;

net::ServerOptions Listening(std::string host, uint16_t port) {
  return {.bind_address = std::move(host),
          .port = port,
          .loops = 1,
          .tls = nullptr,
          .max_body_bytes = 64 * 1024,
          .max_buffered_body_bytes = 1024 * 1024,
          .max_header_bytes = 64 * 1024,
          .max_connections = 256};
}

net::Response Text(int status, std::string text) {
  return {.status = status,
          .headers = {{"content-type", "text/plain; charset=utf-8"}},
          .body = {Bytes(std::move(text))}};
}

}  // namespace

Result<std::optional<BindAddress>> ParseBindAddress(std::string_view text) {
  if (text.empty() || text == "0") return std::optional<BindAddress>();
  const auto wrong = [&] {
    return Status::BadRequest("bind address " + Quote(text) +
                              ": want host:port, :port, or 0 for none");
  };
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return wrong();
  BindAddress address;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    return wrong();
  }
  address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return wrong();
  return std::optional<BindAddress>(std::move(address));
}

Endpoint::Endpoint(const Context& ctx, std::string name, Answer answer)
    : answer_(std::move(answer)),
      workers_(ctx, {.name = std::move(name), .max_threads = kThreads, .max_queue = kQueue}) {}

Result<std::unique_ptr<Endpoint>> Endpoint::Start(const Context& ctx, std::string name,
                                                  const BindAddress& address, Answer answer) {
  auto endpoint = std::make_unique<Endpoint>(ctx, std::move(name), std::move(answer));
  const auto listen = [&](std::string host) {
    return net::Server::Start(
        ctx, Listening(std::move(host), address.port),
        [raw = endpoint.get()](net::ExchangePtr exchange) { raw->Handle(std::move(exchange)); });
  };
  // All addresses are IPv6's "any", which takes IPv4 too; where there is no IPv6, IPv4's.
  Result<std::unique_ptr<net::Server>> server = listen(address.host.empty() ? "::" : address.host);
  if (!server.ok() && address.host.empty()) server = listen("0.0.0.0");
  if (!server.ok()) return server.status();
  endpoint->server_ = *std::move(server);
  return endpoint;
}

Endpoint::~Endpoint() {
  if (server_ != nullptr) server_->Stop();
  workers_.Stop();
}

void Endpoint::Handle(net::ExchangePtr exchange) {
  const std::string& method = exchange->request().method;
  if (method != "GET" && method != "HEAD") {
    return exchange->Send(Text(405, "Method Not Allowed\n"));
  }
  const bool taken = workers_.Submit(
      [this, exchange] { exchange->Send(answer_(exchange->context(), exchange->request())); });
  if (!taken) exchange->Send(Text(503, "Too many requests\n"));
}

}  // namespace cox::sdk
