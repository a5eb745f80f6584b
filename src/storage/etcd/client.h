// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/context.h"
#include "base/result.h"
#include "net/grpc/channel.h"
#include "storage/etcd/messages.h"

namespace cox::storage::etcd {

// What an etcd server's answer means for the API. `code` is gRPC's.
Status StatusOf(int code, const std::string& text);

// A write named a lease that etcd does not know any more.
bool IsLeaseNotFound(const Status& status);

// Calls to etcd, with another attempt where that cannot do harm.
//
// A read is made again when the server or the connection fails. A write only when it is certain
// that no server has executed it: no connection was made, HTTP/2 says the stream was not processed,
// or the member refused because it knows no leader. Everything within the context's time and
// kRetryFor, with a growing pause, on whatever server answers.
//
// Threads: all methods may be called concurrently.
class Client {
 public:
  enum class Repeat : uint8_t { kRead, kWrite };

  Client(std::unique_ptr<net::grpc::Channel> calls, std::unique_ptr<net::grpc::Channel> streams)
      : calls_(std::move(calls)), streams_(std::move(streams)) {}

  // Breaks everything under way, also the streams that others still hold.
  void Close() {
    calls_->Close();
    streams_->Close();
  }

  // The response's bytes.
  Result<std::string> Call(const Context& ctx, std::string_view method, const Message& request,
                           Repeat repeat);
  // Streams have a connection of their own: a flood of changes does not delay calls.
  Result<std::unique_ptr<net::grpc::MessageStream>> Start(const Context& ctx,
                                                          std::string_view method);
  // The server behind a stream cannot help.
  void AvoidStreamServer(const net::grpc::MessageStream& stream) {
    streams_->Avoid(stream.connection());
  }

 private:
  const std::unique_ptr<net::grpc::Channel> calls_;
  const std::unique_ptr<net::grpc::Channel> streams_;
};

}  // namespace cox::storage::etcd
