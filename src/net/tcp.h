// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"

// Blocking TCP, for a few connections with a thread each.
namespace cox::net {

// A TCP connection.
//
// Threads: one thread may read while another writes.
// Errors: Unavailable when the connection broke; the context's error when the context stops first.
class TcpSocket {
 public:
  explicit TcpSocket(int fd) : fd_(fd) {}  // takes ownership; non-blocking
  ~TcpSocket();
  TcpSocket(const TcpSocket&) = delete;
  TcpSocket& operator=(const TcpSocket&) = delete;

  // `host`: an IP address.
  static Result<std::unique_ptr<TcpSocket>> Connect(const Context& ctx, const std::string& host,
                                                    uint16_t port);
  // Reads at least one byte; returns 0 at the end of the peer's output.
  Result<size_t> Read(const Context& ctx, char* to, size_t room);
  // Writes all bytes.
  Status Write(const Context& ctx, std::string_view bytes);
  // Half-closes the connection.
  void EndWriting();

 private:
  const int fd_;
};

// Listens on an address of this machine.
class TcpListener {
 public:
  // `host`: an IP address. `port` 0: any free port, see port().
  static Result<std::unique_ptr<TcpListener>> Listen(const std::string& host, uint16_t port);
  // Takes ownership of a non-blocking descriptor that listens on `port`.
  TcpListener(int fd, uint16_t port) : fd_(fd), port_(port) {}
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  uint16_t port() const { return port_; }
  Result<std::unique_ptr<TcpSocket>> Accept(const Context& ctx);

 private:
  const int fd_;
  const uint16_t port_;
};

}  // namespace cox::net
