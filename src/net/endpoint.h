// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/context.h"
#include "base/result.h"
#include "base/worker_pool.h"
#include "net/bind_address.h"
#include "net/server.h"

namespace cox::net {

// A small HTTP server for health probes and Prometheus.
//
// Responses are created on a thread that runs only while requests are pending, so Answer may block.
// Lifetime: serves until it is destroyed.
class Endpoint {
 public:
  // Called concurrently, with GET and HEAD only. Without `tls` the server uses plain HTTP.
  using Answer = std::function<Response(Context& ctx, const Request& request)>;
  static Result<std::unique_ptr<Endpoint>> Start(const Context& ctx, std::string name,
                                                 const BindAddress& address, Answer answer,
                                                 std::shared_ptr<const ServerTls> tls = {});
  Endpoint(const Context& ctx, std::string name, Answer answer);  // use Start()
  ~Endpoint();

  uint16_t port() const { return server_->port(); }

 private:
  void Handle(ExchangePtr exchange);

  const Answer answer_;
  std::unique_ptr<Server> server_;
  WorkerPool workers_;
};

}  // namespace cox::net
