// SPDX-License-Identifier: Apache-2.0
#include "net/tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>

#include "base/fd.h"

namespace cox::net {
namespace {

Status Broken(std::string_view what) {
  return Status::Unavailable(std::string(what) + ": " + std::strerror(errno));
}

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK; }

// Blocks until `fd` is ready for `events` or `ctx` stops.
Status Await(const Context& ctx, int fd, short events) {
  // poll(2) can only be woken by a descriptor.
  const Fd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return Broken("eventfd");
  const StopHandle on_stop = ctx.OnStop([&wake] { eventfd_write(wake.get(), 1); });
  pollfd waits[] = {{fd, events, 0}, {wake.get(), POLLIN, 0}};
  int polled = 0;
  do {
    polled = poll(waits, 2, -1);
  } while (polled < 0 && errno == EINTR);
  if (ctx.Done()) return ctx.status();
  return polled < 0 ? Broken("poll") : Status();
}

Result<boost::asio::ip::tcp::endpoint> EndpointOf(const std::string& host, uint16_t port) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  if (error) return Status::BadRequest("not an IP address: " + host);
  return boost::asio::ip::tcp::endpoint(address, port);
}

int MakeSocket(const boost::asio::ip::tcp::endpoint& end) {
  return socket(end.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

void NoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

TcpSocket::~TcpSocket() { close(fd_); }

Result<std::unique_ptr<TcpSocket>> TcpSocket::Connect(const Context& ctx, const std::string& host,
                                                      uint16_t port) {
  COX_ASSIGN_OR_RETURN(const auto end, EndpointOf(host, port));
  const int fd = MakeSocket(end);
  if (fd < 0) return Broken("socket");
  auto made = std::make_unique<TcpSocket>(fd);
  NoDelay(fd);
  if (connect(fd, end.data(), static_cast<socklen_t>(end.size())) == 0) return made;
  if (errno != EINPROGRESS) return Broken("connect");
  COX_RETURN_IF_ERROR(Await(ctx, fd, POLLOUT));
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return made;
  errno = error;
  return Broken("connect");
}

Result<size_t> TcpSocket::Read(const Context& ctx, char* to, size_t room) {
  for (;;) {
    if (ctx.Done()) return ctx.status();
    const ssize_t got = recv(fd_, to, room, 0);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno == EINTR) continue;
    if (!WouldBlock()) return Broken("reading");
    COX_RETURN_IF_ERROR(Await(ctx, fd_, POLLIN));
  }
}

Status TcpSocket::Write(const Context& ctx, std::string_view bytes) {
  while (!bytes.empty()) {
    if (ctx.Done()) return ctx.status();
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (!WouldBlock()) return Broken("writing");
    COX_RETURN_IF_ERROR(Await(ctx, fd_, POLLOUT));
  }
  return {};
}

void TcpSocket::EndWriting() { shutdown(fd_, SHUT_WR); }

Result<std::unique_ptr<TcpListener>> TcpListener::Listen(const std::string& host, uint16_t port) {
  COX_ASSIGN_OR_RETURN(auto end, EndpointOf(host, port));
  const int fd = MakeSocket(end);
  if (fd < 0) return Broken("socket");
  const std::string where = "listening on " + host + " port " + std::to_string(port);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  socklen_t size = static_cast<socklen_t>(end.capacity());
  if (bind(fd, end.data(), static_cast<socklen_t>(end.size())) != 0 || listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, end.data(), &size) != 0) {
    Status status = Broken(where);
    close(fd);
    return status;
  }
  return std::make_unique<TcpListener>(fd, end.port());
}

TcpListener::~TcpListener() { close(fd_); }

Result<std::unique_ptr<TcpSocket>> TcpListener::Accept(const Context& ctx) {
  for (;;) {
    if (ctx.Done()) return ctx.status();
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      NoDelay(fd);
      return std::make_unique<TcpSocket>(fd);
    }
    // A peer may disconnect before it is accepted, which is no error.
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (!WouldBlock()) return Broken("accepting");
    COX_RETURN_IF_ERROR(Await(ctx, fd_, POLLIN));
  }
}

}  // namespace cox::net
