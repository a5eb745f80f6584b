// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"

// Plain TCP for those who have a thread to block: a few connections, not thousands.
namespace cox::net {

// A connection.
//
// Threads: one may read while another writes.
// Errors: Unavailable when it broke; the context's reason when that stops first.
class TcpSocket {
 public:
  explicit TcpSocket(int fd) : fd_(fd) {}  // takes it over; non-blocking
  ~TcpSocket();
  TcpSocket(const TcpSocket&) = delete;
  TcpSocket& operator=(const TcpSocket&) = delete;

  // `host`: an IP address.
  static Result<std::unique_ptr<TcpSocket>> Connect(const Context& ctx, const std::string& host,
                                                    uint16_t port);
  // At least one byte; 0 at the end of what the peer sends.
  Result<size_t> Read(const Context& ctx, char* to, size_t room);
  // All of it.
  Status Write(const Context& ctx, std::string_view bytes);
  // The peer reads to the end.
  void EndWriting();

 private:
  const int fd_;
};

// Listens on an address of this machine.
class TcpListener {
 public:
  // `host`: an IP address. `port` 0: any; port() tells.
  static Result<std::unique_ptr<TcpListener>> Listen(const std::string& host, uint16_t port);
  // Takes over a descriptor that listens at `port`; non-blocking.
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
