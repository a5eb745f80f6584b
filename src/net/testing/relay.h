// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace cox::net {

// A relay between a client and a server on the loopback, for tests: forwards bytes like a proxy, a
// load balancer or a firewall, until the test interferes.
class Relay {
 public:
  using Tcp = boost::asio::ip::tcp;

  // The proxy handshake before bytes are forwarded.
  enum class Handshake {
    kNone,     // everything goes to `port`
    kConnect,  // HTTP CONNECT; the response is `connect_answer`
    kSocks5,
  };
  struct Options {
    Handshake handshake = Handshake::kNone;
    uint16_t port = 0;  // of the server, regardless of the address in the handshake
    std::string connect_answer = "HTTP/1.1 200 Connection established\r\n\r\n";
    bool socks_password = false;  // requires a password
    unsigned char socks_reply = 0;
  };

  explicit Relay(Options options)
      : options_(std::move(options)),
        acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}),
        accepting_([this] { Accept(); }) {}
  ~Relay() {
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    accepting_.join();
    {
      MutexLock lock(mu_);
      ending_ = true;
    }
    Cut();
    for (std::thread last = TakeThread(); last.joinable(); last = TakeThread()) last.join();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  uint16_t port() const { return port_; }
  // From now on, silently drops bytes in both directions.
  void Freeze() { frozen_ = true; }
  // Closes the existing connections.
  void Cut() {
    MutexLock lock(mu_);
    for (const auto& socket : sockets_) ::shutdown(socket->native_handle(), SHUT_RDWR);
  }
  // The clients' handshakes: "CONNECT host:port ...", or "user:password host:port" for SOCKS.
  std::vector<std::string> handshakes() {
    MutexLock lock(mu_);
    return handshakes_;
  }

 private:
  using Socket = std::shared_ptr<Tcp::socket>;
  using Error = boost::system::error_code;

  Socket Keep(Socket socket) {
    MutexLock lock(mu_);
    sockets_.push_back(socket);
    if (ending_) ::shutdown(socket->native_handle(), SHUT_RDWR);
    return socket;
  }
  void Go(std::function<void()> work) {
    MutexLock lock(mu_);
    threads_.emplace_back(std::move(work));
  }
  // Removes a thread to join; not joinable if there is none. A thread adds others only before it
  // ends.
  std::thread TakeThread() {
    MutexLock lock(mu_);
    if (threads_.empty()) return {};
    std::thread taken = std::move(threads_.back());
    threads_.pop_back();
    return taken;
  }

  void Accept() {
    for (;;) {
      Error error;
      auto client = std::make_shared<Tcp::socket>(io_);
      acceptor_.accept(*client, error);
      if (error) return;
      Go([this, client = Keep(std::move(client))] { Serve(client); });
    }
  }

  void Serve(const Socket& client) {
    if (!AcceptHandshake(*client)) {
      ::shutdown(client->native_handle(), SHUT_RDWR);
      return;
    }
    const auto server = std::make_shared<Tcp::socket>(io_);
    Error error;
    server->connect({boost::asio::ip::address_v4::loopback(), options_.port}, error);
    if (error) {
      ::shutdown(client->native_handle(), SHUT_RDWR);
      return;
    }
    Keep(server);  // only once it is open: Cut uses it from another thread
    Go([this, client, server] { Pump(*server, *client); });
    Pump(*client, *server);
  }

  void Pump(Tcp::socket& from, Tcp::socket& to) {
    char buffer[16 * 1024];
    for (;;) {
      Error error;
      const size_t size = from.read_some(boost::asio::buffer(buffer), error);
      if (frozen_) {
        if (error) return;
        continue;
      }
      if (!error) boost::asio::write(to, boost::asio::buffer(buffer, size), error);
      if (error) {
        ::shutdown(to.native_handle(), SHUT_RDWR);
        ::shutdown(from.native_handle(), SHUT_RDWR);
        return;
      }
    }
  }

  void Note(std::string handshake) {
    MutexLock lock(mu_);
    handshakes_.push_back(std::move(handshake));
  }
  static std::string Read(Tcp::socket& socket, size_t size) {
    std::string bytes(size, '\0');
    Error error;
    boost::asio::read(socket, boost::asio::buffer(bytes), error);
    return bytes;
  }
  static void Write(Tcp::socket& socket, std::string_view bytes) {
    Error error;
    boost::asio::write(socket, boost::asio::buffer(bytes.data(), bytes.size()), error);
  }

  bool AcceptHandshake(Tcp::socket& client) {
    if (options_.handshake == Handshake::kNone) return true;
    if (options_.handshake == Handshake::kSocks5) return SocksHandshake(client);
    std::string head;
    while (!head.ends_with("\r\n\r\n")) {
      head += Read(client, 1);
      if (head.ends_with('\0')) return false;
    }
    Note(head);
    // In two pieces, because a client must handle fragmentation.
    Write(client, std::string_view(options_.connect_answer).substr(0, 5));
    Write(client, std::string_view(options_.connect_answer).substr(5));
    return options_.connect_answer.find(" 200 ") != std::string::npos;
  }

  bool SocksHandshake(Tcp::socket& client) {
    const std::string hello = Read(client, 2);
    const std::string methods = Read(client, static_cast<unsigned char>(hello[1]));
    const char wanted = options_.socks_password ? '\x02' : '\0';
    if (methods.find(wanted) == std::string::npos) {
      Write(client, "\x05\xff");
      return false;
    }
    Write(client, std::string("\x05") + wanted);
    std::string note;
    if (options_.socks_password) {
      const std::string user = Read(client, static_cast<unsigned char>(Read(client, 2)[1]));
      note = user + ":" + Read(client, static_cast<unsigned char>(Read(client, 1)[0])) + " ";
      Write(client, std::string("\x01\0", 2));
    }
    const std::string request = Read(client, 4);
    std::string host;
    if (request[3] == 3) {
      host = Read(client, static_cast<unsigned char>(Read(client, 1)[0]));
    } else {
      const std::string bytes = Read(client, request[3] == 1 ? 4 : 16);
      for (const char byte : bytes) {
        host += (host.empty() ? "" : ".") + std::to_string(static_cast<unsigned char>(byte));
      }
    }
    const std::string port = Read(client, 2);
    note += host + ":" +
            std::to_string(static_cast<unsigned char>(port[0]) * 256 +
                           static_cast<unsigned char>(port[1]));
    Note(note);
    std::string reply("\x05\0\0\x03\x01x\0\0", 8);  // an unusual address type
    reply[1] = static_cast<char>(options_.socks_reply);
    Write(client, reply);
    return options_.socks_reply == 0;
  }

  const Options options_;
  boost::asio::io_context io_;
  Tcp::acceptor acceptor_;
  const uint16_t port_ = acceptor_.local_endpoint().port();
  std::atomic<bool> frozen_ = false;
  Mutex mu_;
  bool ending_ COX_GUARDED_BY(mu_) = false;
  std::vector<Socket> sockets_ COX_GUARDED_BY(mu_);
  std::vector<std::string> handshakes_ COX_GUARDED_BY(mu_);
  std::vector<std::thread> threads_ COX_GUARDED_BY(mu_);
  std::thread accepting_;
};

}  // namespace cox::net
