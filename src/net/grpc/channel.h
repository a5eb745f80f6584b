// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/scope.h"
#include "net/grpc/connection.h"
#include "net/grpc/socket.h"
#include "net/tls/openssl.h"

namespace cox::net::grpc {

// Connections to one of several equivalent servers, opened on demand and reopened when they broke.
// All calls go to the same server while it works; then to the next server that responds.
//
// Fibers of an event loop have a connection of that loop, so that a call wakes no other thread. All
// other callers share a connection with a thread.
//
// Threads: all methods may be called concurrently; a thread of the channel connects, the callers
//   wait for the result.
// Ownership: owns the threads of its connections. Destruction aborts calls in progress.
class Channel {
 public:
  struct Options {
    std::vector<Endpoint> endpoints;  // at least one
    ConnectionOptions connection;
    // Returns the TLS settings for a new connection instead of connection.tls, so that renewed
    // certificates are used. If it fails, or the certificates do not parse, the last valid settings
    // are used. May block.
    std::function<Result<ClientTls>()> current_tls;
  };
  // BadRequest for certificates that do not parse. Does not connect yet.
  static Result<std::unique_ptr<Channel>> Create(const Context& ctx, std::string name,
                                                 Options options);
  struct TlsState {
    ClientTls options;
    SslContextPtr context;  // null if no endpoint needs it
  };
  Channel(const Context& ctx, std::string name, Options options, TlsState tls);
  ~Channel() { Close(); }

  // Aborts calls in progress and rejects new ones. Returns when its threads have ended.
  void Close();

  // A connection that accepts calls, for the calling thread or fiber. Unavailable if no server can
  // be reached.
  Result<std::shared_ptr<Connection>> Get(const Context& ctx);
  // The server of `connection` responds but is not usable, for example because it has no leader:
  // the next Get tries the other servers first. Calls in progress continue.
  void Avoid(const std::shared_ptr<Connection>& connection);

 private:
  using ConnectionPtr = std::shared_ptr<Connection>;

  void UpdateTls(const Context& ctx);
  // The connection of the loop; null: of threads. Never removed: there are few loops.
  ConnectionPtr& ConnectionOf(EventLoop* loop) COX_REQUIRES(mu_);
  // Connects for `loop` on a thread, which then reads the connection if `loop` is null.
  void Connect(Context& ctx, const std::shared_ptr<EventLoop>& loop);
  Result<ConnectionPtr> Dial(const Context& ctx, size_t first,
                             const std::shared_ptr<EventLoop>& loop, size_t* chosen);

  // Constant after construction.
  const std::string name_;
  const Options options_;

  TlsState tls_;  // used only by the dialing thread
  Mutex mu_;
  CondVar dialed_;
  std::vector<std::pair<EventLoop*, ConnectionPtr>> connections_ COX_GUARDED_BY(mu_);
  size_t next_ COX_GUARDED_BY(mu_) = 0;        // the endpoint to try first
  bool dialing_ COX_GUARDED_BY(mu_) = false;   // for any of the loops
  uint64_t attempts_ COX_GUARDED_BY(mu_) = 0;  // completed
  Status failure_ COX_GUARDED_BY(mu_);         // of the last attempt

  Scope scope_;
};

}  // namespace cox::net::grpc
