// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/scope.h"

namespace cox::net::grpc {

// A scripted gRPC server, which can also misbehave: it can close connections during a call, refuse
// streams and send wrong responses.
//
// Threads: the script runs on the threads of the connections, one call at a time.
class FakeServer {
 public:
  // A received message of a call or a stream.
  struct Request {
    int connection = 0;  // 0 for the first connection
    std::string method;
    std::string message;
  };
  // The reactions, performed in this order.
  struct Action {
    enum class Kind : uint8_t {
      kMessage,  // send `text` as a message
      kEnd,      // end the call with the gRPC status `code` and `text`
      kReset,    // end the stream with the HTTP/2 error `code`
      kGoAway,   // send a GOAWAY that no stream of this connection was or will be processed
      kHangUp,   // close the connection
      kFreeze,   // keep the connection open, but neither read nor send any more
    };
    Kind kind;
    int code = 0;
    std::string text;
  };
  using Script = std::function<std::vector<Action>(const Request& request)>;

  FakeServer(const Context& ctx, Script script);
  ~FakeServer();

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  uint16_t port() const { return port_; }
  int connections() const;
  // Waits until clients have reset `count` calls.
  Status AwaitResets(const Context& ctx, int count);

 private:
  struct Connection;
  void Accept(Context& ctx);
  void Serve(int fd, int number);

  const Script script_;
  int listener_ = -1;
  uint16_t port_ = 0;
  mutable Mutex mu_;
  std::vector<int> open_ COX_GUARDED_BY(mu_);
  int accepted_ COX_GUARDED_BY(mu_) = 0;
  CondVar changed_;
  int resets_ COX_GUARDED_BY(mu_) = 0;
  Mutex script_mu_;
  Scope scope_;
};

}  // namespace cox::net::grpc
