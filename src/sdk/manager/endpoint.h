// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/context.h"
#include "base/result.h"
#include "base/worker_pool.h"
#include "net/server.h"

namespace cox::sdk {

struct BindAddress {
  std::string host;  // empty: all of this computer's addresses
  uint16_t port = 0;

  bool operator==(const BindAddress&) const = default;
};
// "127.0.0.1:8080", "[::1]:8080", "localhost:0", ":8080"; none of "0" and "". BadRequest for
// others.
Result<std::optional<BindAddress>> ParseBindAddress(std::string_view text);

// A small HTTP server without TLS for those who look after the program: probes, Prometheus.
//
// Answers are made on a thread that is there only while somebody asks, so they may block.
// Lifetime: serves until it is destroyed.
class Endpoint {
 public:
  // Called concurrently, with GET and HEAD only.
  using Answer = std::function<net::Response(Context& ctx, const net::Request& request)>;
  static Result<std::unique_ptr<Endpoint>> Start(const Context& ctx, std::string name,
                                                 const BindAddress& address, Answer answer);
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
