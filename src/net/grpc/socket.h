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

// Where a server listens.
struct Endpoint {
  bool tls = false;
  std::string host;  // a name or an IP address, without brackets
  uint16_t port = 0;
  // Not empty: a Unix socket instead; '@' begins the name of an abstract one.
  std::string unix_path = {};

  // Of "unix:///run/kms.sock", "unix:///@abstract". BadRequest if it is none.
  static Result<Endpoint> Unix(std::string_view url);
  std::string authority() const;  // "10.0.0.1:2379", "[::1]:2379"; "localhost" of a Unix socket
  bool operator==(const Endpoint&) const = default;
};

// A file descriptor that threads write to in order to wake another out of poll(2).
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

// A non-blocking connection by TCP, with TLS or without, or by a Unix socket.
//
// Threads: one may read while another writes.
class Socket {
 public:
  // Resolves, connects and shakes hands. `tls` is used for https endpoints; then the server must
  // agree to HTTP/2. Errors: Unavailable, or the context's reason.
  static Result<std::unique_ptr<Socket>> Connect(const Context& ctx, const Endpoint& endpoint,
                                                 SSL_CTX* tls, const ClientTls& tls_options);
  // Takes over a connected, non-blocking descriptor.
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  enum class State : uint8_t { kMoved, kAgain, kClosed };
  struct Moved {
    State state;
    size_t bytes = 0;
    bool more = false;  // of a read: there is more here already, which poll() would not tell
  };
  // kAgain: poll() first. kClosed: no more, or broken.
  Moved Read(char* buffer, size_t size);
  Moved Write(std::string_view bytes);

  // Both directions end; a reader wakes up.
  void Shutdown();

  int fd() const { return fd_; }

 private:
  Status Handshake(const Context& ctx, WakeUp& stopped, const Endpoint& endpoint);

  const int fd_;
  Mutex ssl_mu_;  // OpenSSL's connection is for one thread at a time
  SslPtr ssl_ COX_PT_GUARDED_BY(ssl_mu_);
};

}  // namespace cox::net::grpc
