// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "base/worker_pool.h"
#include "net/grpc/channel.h"
#include "object/codec/protobuf/protobuf.h"

namespace cox::runtime {

// CRI v1 calls over one Unix socket. Connects on demand, and reconnects after a restart of the
// runtime.
//
// Threads: all methods may be called concurrently.
// Errors: same as Runtime. A call that may have been executed is not retried.
class CriClient {
 public:
  // BadRequest for an invalid endpoint. Does not connect yet.
  static Result<std::unique_ptr<CriClient>> Create(const Context& ctx, std::string_view endpoint);
  CriClient(const Context& ctx, std::unique_ptr<net::grpc::Channel> calls,
            std::unique_ptr<net::grpc::Channel> streams)
      : calls_(std::move(calls)),
        streams_(std::move(streams)),
        retries_(ctx, {.name = "cri-retry", .max_threads = 1}) {}

  // `method` is a constant: "/runtime.v1.RuntimeService/Version".
  template <class Response, class Request>
  Result<Response> Call(const Context& ctx, std::string_view method, const Request& request) {
    COX_ASSIGN_OR_RETURN(const std::string answer, Send(ctx, method, proto::Encode(request)));
    return proto::Decode<Response>(answer);
  }
  // The same without a waiting thread: `done` is called once, on any thread, and must not block.
  // Blocks at most while the connection is opened. The client must outlive the call.
  template <class Response, class Request>
  void CallAsync(const Context& ctx, std::string_view method, const Request& request,
                 std::function<void(Result<Response>)> done) {
    SendAsync(ctx, method, proto::Encode(request), [done](const Result<std::string>& answer) {
      if (!answer.ok()) return done(answer.status());
      done(proto::Decode<Response>(*answer));
    });
  }
  template <class Request>
  Result<std::unique_ptr<net::grpc::MessageStream>> Start(const Context& ctx,
                                                          std::string_view method,
                                                          const Request& request) {
    return Open(ctx, method, proto::Encode(request));
  }

 private:
  Result<std::string> Send(const Context& ctx, std::string_view method, const std::string& message);
  void SendAsync(const Context& ctx, std::string_view method, const std::string& message,
                 std::function<void(Result<std::string>)> done);
  struct AsyncCall {
    std::string_view method;
    std::string framed;
    std::function<void(Result<std::string>)> done;
  };
  void Attempt(const Context& ctx, const AsyncCall& call, int attempt);
  Result<std::unique_ptr<net::grpc::MessageStream>> Open(const Context& ctx,
                                                         std::string_view method,
                                                         const std::string& message);

  const std::unique_ptr<net::grpc::Channel> calls_;
  const std::unique_ptr<net::grpc::Channel> streams_;  // separate: events never wait for calls
  WorkerPool retries_;
};

}  // namespace cox::runtime
