// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
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
  CriClient(std::unique_ptr<net::grpc::Channel> calls, std::unique_ptr<net::grpc::Channel> streams)
      : calls_(std::move(calls)), streams_(std::move(streams)) {}

  // `method` is a constant: "/runtime.v1.RuntimeService/Version".
  template <class Response, class Request>
  Result<Response> Call(const Context& ctx, std::string_view method, const Request& request) {
    COX_ASSIGN_OR_RETURN(const std::string answer, Send(ctx, method, proto::Encode(request)));
    return proto::Decode<Response>(answer);
  }
  template <class Request>
  Result<std::unique_ptr<net::grpc::MessageStream>> Start(const Context& ctx,
                                                          std::string_view method,
                                                          const Request& request) {
    return Open(ctx, method, proto::Encode(request));
  }

 private:
  Result<std::string> Send(const Context& ctx, std::string_view method, const std::string& message);
  Result<std::unique_ptr<net::grpc::MessageStream>> Open(const Context& ctx,
                                                         std::string_view method,
                                                         const std::string& message);

  const std::unique_ptr<net::grpc::Channel> calls_;
  const std::unique_ptr<net::grpc::Channel> streams_;  // separate: events never wait for calls
};

}  // namespace cox::runtime
