// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/tls.h"
#include "net/tls/openssl.h"

namespace cox::net::grpc {

// The address of a gRPC server.
struct Endpoint {
  bool tls = false;
  std::string host;  // a name or an IP address, without brackets
  uint16_t port = 0;
  // Not empty: a Unix socket; a leading '@' denotes an abstract name.
  std::string unix_path = {};

  // Parses "unix:///run/kms.sock" and "unix:///@abstract". BadRequest for any other text.
  static Result<Endpoint> Unix(std::string_view url);
  std::string authority() const;  // "10.0.0.1:2379", "[::1]:2379"; "localhost" for a Unix socket
  bool operator==(const Endpoint&) const = default;
};

// An eventfd that wakes another thread from poll(2).
class WakeUp {
 public:
  WakeUp();
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  int fd() const { return fd_; }
  void Signal();
  void Clear();

 private:
  const int fd_;
};

// A non-blocking connection over TCP, with or without TLS, or over a Unix socket.
//
// Threads: one thread may read while another writes.
class Socket {
 public:
  // Resolves, connects and performs the TLS handshake. `tls` is used for https endpoints; then the
  // server must accept HTTP/2. Errors: Unavailable, or the context's error.
  static Result<std::unique_ptr<Socket>> Connect(const Context& ctx, const Endpoint& endpoint,
                                                 SSL_CTX* tls, const ClientTls& tls_options);
  // Takes ownership of a connected, non-blocking descriptor.
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  enum class State : uint8_t { kMoved, kAgain, kClosed };
  struct Moved {
    State state;
    size_t bytes = 0;
    bool more = false;  // read only: more bytes are buffered, which poll() does not report
  };
  // kAgain: call poll() first. kClosed: end of input, or broken.
  Moved Read(char* buffer, size_t size);
  Moved Write(std::string_view bytes);

  // Shuts down both directions; wakes a reader.
  void Shutdown();

  int fd() const { return fd_; }

 private:
  Status Handshake(const Context& ctx, WakeUp& stopped, const Endpoint& endpoint);

  const int fd_;
  Mutex ssl_mu_;  // an SSL object must not be used by two threads at once
  SslPtr ssl_ COX_PT_GUARDED_BY(ssl_mu_);
};

}  // namespace cox::net::grpc
