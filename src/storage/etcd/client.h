// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/context.h"
#include "base/result.h"
#include "net/grpc/channel.h"
#include "storage/etcd/messages.h"

namespace cox::storage::etcd {

// Maps an etcd error to an API status. `code` is the gRPC status code.
Status StatusOf(int code, const std::string& text);

// A write used a lease that has expired or was revoked.
bool IsLeaseNotFound(const Status& status);

// Sends calls to etcd and retries those that are safe to repeat. Logs once when no server can be
// reached, and once when a server responds again.
//
// A read is retried when the server or the connection fails. A write is retried only when it is
// certain that no server has executed it: no connection was established, HTTP/2 reports that the
// stream was not processed, or the member rejected it because it has no leader. Retries use
// exponential backoff, go to any server that responds, and stop after kRetryFor or when the context
// ends.
//
// Threads: all methods may be called concurrently.
class Client {
 public:
  enum class Repeat : uint8_t { kRead, kWrite };

  Client(std::unique_ptr<net::grpc::Channel> calls, std::unique_ptr<net::grpc::Channel> streams)
      : calls_(std::move(calls)), streams_(std::move(streams)) {}

  // Aborts all calls and streams, including streams that watches still hold.
  void Close() {
    calls_->Close();
    streams_->Close();
  }

  // Returns the encoded response.
  Result<std::string> Call(const Context& ctx, std::string_view method, const Message& request,
                           Repeat repeat);
  // Streams use a separate connection, so that a burst of events does not delay calls.
  Result<std::unique_ptr<net::grpc::MessageStream>> Start(const Context& ctx,
                                                          std::string_view method);
  // Makes new streams prefer other servers than that of `stream`.
  void AvoidStreamServer(const net::grpc::MessageStream& stream) {
    streams_->Avoid(stream.connection());
  }

 private:
  void ReportUnreachable(const Context& ctx, const Status& failure);
  void ReportReachable(const Context& ctx);

  std::atomic<bool> reachable_ = true;
  const std::unique_ptr<net::grpc::Channel> calls_;
  const std::unique_ptr<net::grpc::Channel> streams_;
};

}  // namespace cox::storage::etcd
