// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.h"

#include <utility>

namespace cox::net {
namespace {

// Probes and scrapes are rare; more requests than this wait in the queue, and beyond it get 503.
constexpr size_t kThreads = 2;
constexpr size_t kQueue = 64;

ServerOptions Limits(std::shared_ptr<const ServerTls> tls) {
  return {.loops = 1,
          .tls = std::move(tls),
          .max_body_bytes = 64 * 1024,
          .max_buffered_bytes = 1024 * 1024,
          .max_header_bytes = 64 * 1024,
          .max_connections = 256};
}

Response Text(int status, std::string text) {
  return {.status = status,
          .headers = {{"content-type", "text/plain; charset=utf-8"}},
          .body = {Bytes(std::move(text))}};
}

}  // namespace

Endpoint::Endpoint(const Context& ctx, std::string name, Answer answer)
    : answer_(std::move(answer)),
      workers_(ctx, {.name = std::move(name), .max_threads = kThreads, .max_queue = kQueue}) {}

Result<std::unique_ptr<Endpoint>> Endpoint::Start(const Context& ctx, std::string name,
                                                  const BindAddress& address, Answer answer,
                                                  std::shared_ptr<const ServerTls> tls) {
  auto endpoint = std::make_unique<Endpoint>(ctx, std::move(name), std::move(answer));
  COX_ASSIGN_OR_RETURN(endpoint->server_, ListenOn(ctx, address, Limits(std::move(tls)),
                                                   [raw = endpoint.get()](ExchangePtr exchange) {
                                                     raw->Handle(std::move(exchange));
                                                   }));
  return endpoint;
}

Endpoint::~Endpoint() {
  if (server_ != nullptr) server_->Stop();
  workers_.Stop();
}

void Endpoint::Handle(ExchangePtr exchange) {
  const std::string& method = exchange->request().method;
  if (method != "GET" && method != "HEAD") {
    return exchange->Send(Text(405, "Method Not Allowed\n"));
  }
  const bool taken = workers_.Submit(
      [this, exchange] { exchange->Send(answer_(exchange->context(), exchange->request())); });
  if (!taken) exchange->Send(Text(503, "Too many requests\n"));
}

}  // namespace cox::net
