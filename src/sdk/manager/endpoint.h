// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/context.h"
#include "base/result.h"
#include "base/worker_pool.h"
#include "net/server.h"
#include "sdk/transport/bind_address.h"

namespace cox::sdk {

// A small HTTP server for those who look after the program: probes, Prometheus.
//
// Answers are made on a thread that is there only while somebody asks, so they may block.
// Lifetime: serves until it is destroyed.
class Endpoint {
 public:
  // Called concurrently, with GET and HEAD only. Without `tls` it is plain HTTP.
  using Answer = std::function<net::Response(Context& ctx, const net::Request& request)>;
  static Result<std::unique_ptr<Endpoint>> Start(const Context& ctx, std::string name,
                                                 const BindAddress& address, Answer answer,
                                                 std::shared_ptr<const net::ServerTls> tls = {});
  Endpoint(const Context& ctx, std::string name, Answer answer);  // use Start()
  ~Endpoint();

  uint16_t port() const { return server_->port(); }

 private:
  void Handle(net::ExchangePtr exchange);

  const Answer answer_;
  std::unique_ptr<net::Server> server_;
  WorkerPool workers_;
};

}  // namespace cox::sdk
