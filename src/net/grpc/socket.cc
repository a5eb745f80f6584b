// SPDX-License-Identifier: Apache-2.0
#include "net/grpc/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/strings.h"
#include "net/tls/client_tls.h"

namespace cox::net::grpc {
namespace {

Status ConnectError(const Endpoint& endpoint, std::string_view what, int error) {
  const std::string to = endpoint.unix_path.empty() ? endpoint.authority() : endpoint.unix_path;
  return Status::Unavailable("connecting to " + to + ": " + std::string(what) +
                             (error != 0 ? std::string(": ") + std::strerror(error) : ""));
}

// Waits until `fd` is ready for `events` or the context stops.
Status AwaitReady(const Context& ctx, WakeUp& stopped, int fd, int16_t events) {
  while (true) {
    COX_RETURN_IF_ERROR(ctx.status());
    pollfd fds[] = {{fd, events, 0}, {stopped.fd(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) {
      return Status::Unavailable(std::string("poll: ") + std::strerror(errno));
    }
    COX_RETURN_IF_ERROR(ctx.status());
    if (fds[0].revents != 0) return {};
  }
}

struct AddressesFree {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

Result<std::unique_ptr<addrinfo, AddressesFree>> Resolve(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0) return ConnectError(endpoint, ::gai_strerror(error), 0);
  return std::unique_ptr<addrinfo, AddressesFree>(found);
}

// A connected descriptor for one address.
Result<int> ConnectTo(const Context& ctx, WakeUp& stopped, const Endpoint& endpoint,
                      const sockaddr* address, socklen_t address_size) {
  const int fd = ::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return ConnectError(endpoint, "socket", errno);
  if (address->sa_family != AF_UNIX) {
    // Requests are small and latency-sensitive.
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  Status status;
  if (::connect(fd, address, address_size) != 0) {
    if (errno != EINPROGRESS) {
      status = ConnectError(endpoint, "connect", errno);
    } else if (status = AwaitReady(ctx, stopped, fd, POLLOUT); status.ok()) {
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) status = ConnectError(endpoint, "connect", error);
    }
  }
  if (status.ok()) return fd;
  ::close(fd);
  return status;
}

Result<int> ConnectUnix(const Context& ctx, WakeUp& stopped, const Endpoint& endpoint) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& path = endpoint.unix_path;
  if (path.size() >= sizeof address.sun_path) return ConnectError(endpoint, "too long", 0);
  std::memcpy(address.sun_path, path.data(), path.size());
  // Abstract names begin with a zero byte and have no terminator.
  size_t size = offsetof(sockaddr_un, sun_path) + path.size();
  if (path.front() == '@') {
    address.sun_path[0] = '\0';
  } else {
    ++size;
  }
  return ConnectTo(ctx, stopped, endpoint, reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(size));
}

// OpenSSL's socket BIO writes without MSG_NOSIGNAL: a closed connection would kill a process that
// does not ignore SIGPIPE. This BIO differs only in that.
int BioWrite(BIO* bio, const char* data, int size) {
  const int fd = static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
  BIO_clear_retry_flags(bio);
  const ssize_t n = ::send(fd, data, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(n);
}

int BioRead(BIO* bio, char* data, int size) {
  const int fd = static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
  BIO_clear_retry_flags(bio);
  const ssize_t n = ::recv(fd, data, static_cast<size_t>(size), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(n);
}

int64_t BioControl(BIO* /*bio*/, int command, int64_t /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO* MakeBio(int fd) {
  static BIO_METHOD* const kMethod = []() {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_write(method, BioWrite);
    BIO_meth_set_read(method, BioRead);
    BIO_meth_set_ctrl(method, BioControl);
    return method;
  }();
  BIO* bio = BIO_new(kMethod);
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace

Result<Endpoint> Endpoint::Unix(std::string_view url) {
  constexpr std::string_view kScheme = "unix://";
  const auto bad = [&](std::string_view why) {
    return Status::BadRequest("endpoint " + Quote(url) + " " + std::string(why));
  };
  if (!url.starts_with(kScheme)) return bad("must be unix://, a path behind it");
  Endpoint endpoint;
  std::string& path = endpoint.unix_path;
  path = url.substr(kScheme.size());
  // An abstract socket may be written unix:///@name, too.
  if (path.starts_with("/@")) path.erase(0, 1);
  if (path.size() < 2 || (path[0] != '/' && path[0] != '@')) return bad("names no absolute path");
  if (path.size() > 107) return bad("is longer than a path of a socket may be");
  return endpoint;
}

std::string Endpoint::authority() const {
  if (!unix_path.empty()) return "localhost";
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

WakeUp::WakeUp() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

WakeUp::~WakeUp() { ::close(fd_); }

void WakeUp::Signal() {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then it is already signalled.
  [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);
}

void WakeUp::Clear() {
  uint64_t count;
  [[maybe_unused]] const ssize_t taken = ::read(fd_, &count, sizeof count);
}

Result<std::unique_ptr<Socket>> Socket::Connect(const Context& ctx, const Endpoint& endpoint,
                                                SSL_CTX* tls, const ClientTls& tls_options) {
  WakeUp stopped;
  const StopHandle on_stop = ctx.OnStop([&stopped]() { stopped.Signal(); });
  if (!endpoint.unix_path.empty()) {
    COX_ASSIGN_OR_RETURN(const int fd, ConnectUnix(ctx, stopped, endpoint));
    return std::make_unique<Socket>(fd);
  }
  COX_ASSIGN_OR_RETURN(const auto addresses, Resolve(endpoint));
  Status last = ConnectError(endpoint, "no address", 0);
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    Result<int> fd = ConnectTo(ctx, stopped, endpoint, address->ai_addr, address->ai_addrlen);
    if (!fd.ok()) {
      last = fd.status();
      if (ctx.Done()) break;
      continue;
    }
    auto socket = std::make_unique<Socket>(*fd);
    if (!endpoint.tls) return socket;
    COX_ASSIGN_OR_RETURN(socket->ssl_, MakeClientSsl(tls, tls_options, endpoint.host));
    COX_RETURN_IF_ERROR(socket->Handshake(ctx, stopped, endpoint));
    return socket;
  }
  return last;
}

Status Socket::Handshake(const Context& ctx, WakeUp& stopped, const Endpoint& endpoint) {
  MutexLock lock(ssl_mu_);
  BIO* bio = MakeBio(fd_);
  SSL_set_bio(ssl_.get(), bio, bio);  // takes ownership
  SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                               SSL_MODE_RELEASE_BUFFERS);
  while (true) {
    ERR_clear_error();
    const int done = SSL_connect(ssl_.get());
    if (done == 1) break;
    const int error = SSL_get_error(ssl_.get(), done);
    if (error == SSL_ERROR_WANT_READ) {
      COX_RETURN_IF_ERROR(AwaitReady(ctx, stopped, fd_, POLLIN));
    } else if (error == SSL_ERROR_WANT_WRITE) {
      COX_RETURN_IF_ERROR(AwaitReady(ctx, stopped, fd_, POLLOUT));
    } else {
      std::string why =
          error == SSL_ERROR_SYSCALL ? "the connection was closed" : OpenSslErrorText();
      const int64_t verify = SSL_get_verify_result(ssl_.get());
      if (verify != X509_V_OK) {
        why += std::string(": ") + X509_verify_cert_error_string(verify);
      }
      return ConnectError(endpoint, "TLS handshake: " + why, 0);
    }
  }
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
  if (std::string_view(reinterpret_cast<const char*>(protocol), size) != "h2") {
    return ConnectError(endpoint, "the server does not speak HTTP/2", 0);
  }
  return {};
}

Socket::~Socket() { ::close(fd_); }

Socket::Moved Socket::Read(char* buffer, size_t size) {
  if (ssl_ == nullptr) {
    const ssize_t n = ::recv(fd_, buffer, size, 0);
    if (n > 0) return {State::kMoved, static_cast<size_t>(n)};
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {State::kAgain};
    return {State::kClosed};
  }
  MutexLock lock(ssl_mu_);
  ERR_clear_error();
  size_t moved = 0;
  const int ok = SSL_read_ex(ssl_.get(), buffer, size, &moved);
  if (ok == 1) return {State::kMoved, moved, SSL_has_pending(ssl_.get()) == 1};
  const int error = SSL_get_error(ssl_.get(), ok);
  const bool again = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  return {again ? State::kAgain : State::kClosed};
}

void Socket::Shutdown() { ::shutdown(fd_, SHUT_RDWR); }

Socket::Moved Socket::Write(std::string_view bytes) {
  if (ssl_ == nullptr) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) return {State::kMoved, static_cast<size_t>(n)};
    if (errno == EAGAIN || errno == EINTR) return {State::kAgain};
    return {State::kClosed};
  }
  MutexLock lock(ssl_mu_);
  ERR_clear_error();
  size_t moved = 0;
  const int ok = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &moved);
  if (ok == 1) return {State::kMoved, moved};
  const int error = SSL_get_error(ssl_.get(), ok);
  const bool again = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  return {again ? State::kAgain : State::kClosed};
}

}  // namespace cox::net::grpc
