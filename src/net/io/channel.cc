// SPDX-License-Identifier: Apache-2.0
#include "net/io/channel.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace cox::net {
namespace {

// Maximum bytes sent for one connection before others are served: about 50 us.
constexpr size_t kTurnBytes = 2 * EventLoop::kOutputChunk;

Status Broken(std::string_view what, int error) {
  return Status::Unavailable(std::string(what) + ": " + std::strerror(error));
}

// Detects a dead peer after two minutes instead of the kernel's two hours.
void KeepAlive(int fd) {
  const std::pair<int, int> options[] = {{TCP_KEEPIDLE, 60}, {TCP_KEEPINTVL, 15}, {TCP_KEEPCNT, 4}};
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  for (const auto& [option, value] : options) {
    setsockopt(fd, IPPROTO_TCP, option, &value, sizeof(value));
  }
}

}  // namespace

Channel::Channel(EventLoop& loop, boost::asio::ip::tcp::socket socket, SslPtr ssl, User& user,
                 std::unique_ptr<Tunnel> tunnel)
    : loop_(loop),
      socket_(std::move(socket)),
      tls_(ssl != nullptr ? std::make_unique<TlsEngine>(std::move(ssl)) : nullptr),
      tunnel_(std::move(tunnel)),
      user_(&user) {}

Channel::~Channel() = default;

void Channel::Start() {
  boost::system::error_code error;
  socket_.non_blocking(true, error);
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), error);
  KeepAlive(socket_.native_handle());
  if (tunnel_ == nullptr) {
    if (!Begin()) return;
  } else {
    std::string hello;
    const Status status = tunnel_->Start(&hello);
    if (!status.ok()) return End(status);
    if (!SendRaw(hello)) return;
  }
  WaitReadable();
}

bool Channel::Begin() {
  begun_ = true;
  if (tls_ == nullptr) {
    state_ = State::kOpen;
    open_ = true;
    user_->OnOpen();
    if (closed()) return false;
    Flush();
  } else if (!tls_->server()) {
    // The client sends first. The server starts the handshake only when bytes arrive, so that idle
    // clients cost no handshake buffers.
    std::string_view nothing;
    return ContinueHandshake(&nothing);
  }
  return !closed();
}

void Channel::WaitReadable() {
  if (closed() || wait_pending_ || input_ended_ || (!reading_ && !lingering())) return;
  wait_pending_ = true;
  auto self = std::static_pointer_cast<Channel>(shared_from_this());
  socket_.async_wait(boost::asio::ip::tcp::socket::wait_read,
                     [self](const boost::system::error_code& error) {
                       self->wait_pending_ = false;
                       if (!error && !self->closed()) self->OnReadable();
                     });
}

void Channel::SetReading(bool on) {
  reading_ = on;
  if (on && !receiving_) WaitReadable();
}

void Channel::OnReadable() {
  // Bounded, so that one fast peer does not starve other connections of the loop.
  for (int round = 0; round < 4; ++round) {
    std::vector<char>& buffer = loop_.received();
    const ssize_t got = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      return End(Broken("reading", errno));
    }
    if (got == 0) {
      if (!TakeInputEnd()) return End({});
      break;
    }
    receiving_ = true;
    const bool alive = Take({buffer.data(), static_cast<size_t>(got)});
    receiving_ = false;
    if (!alive) return;
    if (static_cast<size_t>(got) < buffer.size() || !reading_) break;
  }
  Flush();
  WaitReadable();
}

bool Channel::Take(std::string_view bytes) {
  if (lingering()) return true;
  if (tunnel_ != nullptr) return TakeTunnel(bytes);
  if (tls_ != nullptr) return TakeTls(bytes);
  user_->OnBytes(bytes);
  return !closed();
}

bool Channel::TakeTunnel(std::string_view bytes) {
  std::string inner;
  std::string answer;
  const Status status = tunnel_->Receive(bytes, &inner, &answer);
  if (!answer.empty() && !SendRaw(answer)) return false;
  if (!status.ok()) {
    End(status);
    return false;
  }
  if (!tunnel_->open()) return true;
  if (tunnel_->transparent()) tunnel_.reset();
  if (!begun_ && !Begin()) return false;
  if (inner.empty()) return true;
  if (tls_ != nullptr) return TakeTls(inner);
  user_->OnBytes(inner);
  return !closed();
}

bool Channel::ContinueHandshake(std::string_view* bytes) {
  loop_.cipher().clear();
  const TlsEngine::State state = tls_->Handshake(bytes, &loop_.cipher());
  if (state == TlsEngine::State::kFailed && tls_->plain_http()) {
    loop_.cipher() =
        "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
  }
  if (!SendCipher()) return false;  // also sends the alert of a failed handshake
  if (state == TlsEngine::State::kWantMore) return true;
  if (state != TlsEngine::State::kOk) {
    End(Status::Unavailable("TLS handshake: " + tls_->error()));
    return false;
  }
  state_ = State::kOpen;
  open_ = true;
  user_->OnOpen();
  return !closed();
}

bool Channel::TakeTls(std::string_view bytes) {
  if (handshaking()) {
    if (!ContinueHandshake(&bytes)) return false;
    if (handshaking()) return true;
  }
  std::vector<char>& plain = loop_.plain();
  for (;;) {
    size_t got = 0;
    loop_.cipher().clear();
    const TlsEngine::State state =
        tls_->Read(&bytes, &loop_.cipher(), plain.data(), plain.size(), &got);
    if (!loop_.cipher().empty() && !SendCipher()) return false;
    switch (state) {
      case TlsEngine::State::kOk:
        if (lingering()) break;
        user_->OnBytes({plain.data(), got});
        if (closed()) return false;
        break;
      case TlsEngine::State::kWantMore:
        return true;
      case TlsEngine::State::kClosed:
        if (TakeInputEnd()) return true;
        End({});
        return false;
      case TlsEngine::State::kFailed:
        End(Status::Unavailable("TLS: " + tls_->error()));
        return false;
    }
  }
}

void Channel::Flush() {
  if (flushing_ || receiving_ || !open_ || closed()) return;
  flushing_ = true;
  std::vector<char>& plain = loop_.plain();
  bool alive = true;
  size_t turn = 0;
  while (alive && !blocked() && !lingering()) {
    // Yields, so that a fast peer with a large body does not starve other connections of the loop.
    if (turn >= kTurnBytes) {
      flushing_ = false;
      return loop_.FlushSoon(*this);
    }
    const size_t size = user_->OnOutput(plain.data(), EventLoop::kOutputChunk);
    if (closed()) return;
    if (size == 0) break;
    turn += size;
    if (tls_ == nullptr) {
      alive = SendBytes({plain.data(), size});
      continue;
    }
    loop_.cipher().clear();
    if (tls_->Write({plain.data(), size}, &loop_.cipher()) != TlsEngine::State::kOk) {
      return End(Status::Unavailable("TLS: " + tls_->error()));
    }
    alive = SendCipher();
  }
  if (!alive) return;
  flushing_ = false;
  if (!blocked() && !lingering()) user_->OnFlushed();
}

bool Channel::SendCipher() { return SendBytes(loop_.cipher()); }

bool Channel::SendBytes(std::string_view bytes) {
  if (tunnel_ == nullptr) return SendRaw(bytes);
  std::string wrapped;
  const Status status = tunnel_->Wrap(bytes, &wrapped);
  if (!status.ok()) {
    End(status);
    return false;
  }
  return SendRaw(wrapped);
}

bool Channel::SendRaw(std::string_view bytes) {
  if (blocked()) {  // appended to pending output: handshake and key update replies
    unsent_.append(bytes);
    return true;
  }
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      End(Broken("writing", errno));
      return false;
    }
    unsent_.assign(bytes);
    blocked_since_ = loop_.clock().Monotonic();
    auto self = std::static_pointer_cast<Channel>(shared_from_this());
    socket_.async_wait(boost::asio::ip::tcp::socket::wait_write,
                       [self](const boost::system::error_code& error) {
                         if (!error && !self->closed()) self->OnWritable();
                       });
    return true;
  }
  return true;
}

void Channel::OnWritable() {
  const std::string waiting = std::exchange(unsent_, {});
  if (!SendRaw(waiting)) return;
  if (blocked()) return;
  if (lingering()) return EndSocketOutput();
  if (output_ended_) EndSocketOutput();
  Flush();
}

void Channel::Shutdown() {
  if (closed() || lingering()) return;
  state_ = State::kLinger;
  if (tls_ != nullptr && open_ && !output_ended_) {
    loop_.cipher().clear();
    tls_->Shutdown(&loop_.cipher());
    if (!SendCipher()) return;
  }
  if (!blocked()) EndSocketOutput();
  // Both directions are closed.
  if (input_ended_) return End({});
  WaitReadable();
}

bool Channel::TakeInputEnd() {
  if (lingering() || !open_ || !user_->OnInputEnd()) return false;
  input_ended_ = true;
  return true;
}

void Channel::EndOutput() {
  if (closed() || lingering() || std::exchange(output_ended_, true)) return;
  if (tls_ != nullptr && open_) {
    loop_.cipher().clear();
    tls_->Shutdown(&loop_.cipher());
    if (!SendCipher()) return;
  }
  if (!blocked()) EndSocketOutput();
}

void Channel::EndSocketOutput() {
  boost::system::error_code ignored;
  socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
}

void Channel::Close() {
  if (closed()) return;
  state_ = State::kClosed;
  boost::system::error_code ignored;
  socket_.close(ignored);
  unsent_ = {};
}

void Channel::End(const Status& why) {
  if (closed()) return;
  Close();
  user_->OnEnd(why);
}

}  // namespace cox::net
