// SPDX-License-Identifier: Apache-2.0
#include "dns/server/server.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "base/scope.h"
#include "dns/server/responder.h"

namespace cox::dns {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::ip::udp;
using Error = boost::system::error_code;

constexpr size_t kMaxQuery = 4096;
// The maximum number of datagrams that are read before other handlers run.
constexpr int kBurst = 64;

// One TCP connection, which handles one query at a time.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Responder& responder, std::chrono::seconds idle, size_t& open)
      : socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        responder_(responder),
        idle_(idle),
        open_(open) {
    ++open_;
  }
  ~Connection() { --open_; }

  void Read() {
    WatchIdle();
    buffer_.resize(2);
    asio::async_read(socket_, asio::buffer(buffer_),
                     [self = shared_from_this()](const Error& error, size_t) {
                       if (error) return self->End();
                       self->ReadBody();
                     });
  }

 private:
  void ReadBody() {
    const size_t size = static_cast<size_t>(static_cast<uint8_t>(buffer_[0])) << 8 |
                        static_cast<uint8_t>(buffer_[1]);
    if (size > kMaxQuery || size == 0) return End();
    buffer_.resize(size);
    asio::async_read(
        socket_, asio::buffer(buffer_), [self = shared_from_this()](const Error& error, size_t) {
          if (error) return self->End();
          self->responder_.Respond(self->buffer_, true,
                                   [self](std::string answer) { self->Write(std::move(answer)); });
        });
  }
  void Write(std::string answer) {
    if (answer.empty()) return End();
    buffer_.assign({static_cast<char>(answer.size() >> 8), static_cast<char>(answer.size())});
    buffer_ += answer;
    WatchIdle();
    asio::async_write(socket_, asio::buffer(buffer_),
                      [self = shared_from_this()](const Error& error, size_t) {
                        if (error) return self->End();
                        self->Read();
                      });
  }
  void WatchIdle() {
    timer_.expires_after(idle_);
    timer_.async_wait([weak = weak_from_this()](const Error& error) {
      const auto self = weak.lock();
      if (!error && self != nullptr) self->End();
    });
  }
  void End() {
    Error ignored;
    socket_.close(ignored);
    timer_.cancel();
  }

  tcp::socket socket_;
  asio::steady_timer timer_;
  Responder& responder_;
  const std::chrono::seconds idle_;
  size_t& open_;
  std::string buffer_;
};

class ServerImpl final : public Server {
 public:
  ServerImpl(const Context& ctx, ServerOptions options, const Zone& zone, Metrics& metrics)
      : options_(std::move(options)),
        udp_(loop_),
        acceptor_(loop_),
        forwarder_(loop_, ctx.clock(), options_.forward, metrics),
        responder_(zone, forwarder_, ctx.clock(), metrics, ctx.log()),
        scope_(ctx, "dns") {}
  ~ServerImpl() override {
    loop_.stop();
    scope_.Stop();
    scope_.Wait();
  }

  Status Open() {
    Error error;
    const auto address = asio::ip::make_address(options_.address, error);
    if (error) return Status::BadRequest("DNS cannot listen on " + options_.address);
    // TCP and UDP must use the same port; retry if it is not free for UDP.
    for (int attempt = 0; attempt < 10; ++attempt) {
      error = Bind(address);
      if (!error || options_.port != 0) break;
    }
    if (error) {
      return Status::Unavailable("DNS cannot listen on " + options_.address + " port " +
                                 std::to_string(options_.port) + ": " + error.message());
    }
    port_ = acceptor_.local_endpoint().port();
    ReceiveUdp();
    Accept();
    asio::post(loop_, [this] { responder_.ProbeForLoop(); });
    return scope_.Go("dns", [this](Context& run) {
      const auto stop = run.OnStop([this] { loop_.stop(); });
      loop_.run();
    });
  }
  uint16_t port() const override { return port_; }

 private:
  Error Bind(const asio::ip::address& address) {
    Error error;
    Error ignored;
    acceptor_.close(ignored);
    udp_.close(ignored);
    const tcp::endpoint at(address, options_.port);
    acceptor_.open(at.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(at, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return error;
    const udp::endpoint same(address, acceptor_.local_endpoint().port());
    udp_.open(same.protocol(), error);
    if (!error) udp_.bind(same, error);
    if (!error) udp_.non_blocking(true, error);
    return error;
  }

  void ReceiveUdp() {
    udp_.async_wait(udp::socket::wait_read, [this](const Error& error) {
      if (error) return;
      for (int i = 0; i < kBurst; ++i) {
        udp::endpoint peer;
        Error failed;
        const size_t size = udp_.receive_from(asio::buffer(datagram_), peer, 0, failed);
        if (failed) break;
        if (peer.port() == 0) continue;  // forged: port 0 cannot receive a response
        responder_.Respond({datagram_.data(), size}, false,
                           [this, peer](const std::string& answer) {
                             Error lost;  // a datagram that cannot be sent is dropped
                             if (!answer.empty()) udp_.send_to(asio::buffer(answer), peer, 0, lost);
                           });
      }
      ReceiveUdp();
    });
  }

  void Accept() {
    acceptor_.async_accept([this](const Error& error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return AcceptLater();
      if (connections_ < options_.max_connections) {
        std::make_shared<Connection>(std::move(socket), responder_, options_.idle_timeout,
                                     connections_)
            ->Read();
      }
      Accept();
    });
  }

  // If the process is out of file descriptors, accept fails repeatedly: wait before the retry.
  void AcceptLater() {
    accept_timer_.expires_after(std::chrono::milliseconds(100));
    accept_timer_.async_wait([this](const Error& error) {
      if (!error) Accept();
    });
  }

  const ServerOptions options_;
  size_t connections_ = 0;  // outlives the event loop, which owns the connections
  uint16_t port_ = 0;
  std::array<char, kMaxQuery> datagram_;
  asio::io_context loop_{1};
  udp::socket udp_;
  tcp::acceptor acceptor_;
  asio::steady_timer accept_timer_{loop_};
  Forwarder forwarder_;
  Responder responder_;
  Scope scope_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(const Context& ctx, ServerOptions options,
                                              const Zone& zone, Metrics& metrics) {
  auto server = std::make_unique<ServerImpl>(ctx, std::move(options), zone, metrics);
  COX_RETURN_IF_ERROR(server->Open());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace cox::dns
