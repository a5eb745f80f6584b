// SPDX-License-Identifier: Apache-2.0
#include "net/client/proxy_tunnel.h"

#include <arpa/inet.h>
#include <openssl/evp.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "net/tls/tls_engine.h"

namespace cox::net {
namespace {

// Limit for the response to CONNECT.
constexpr size_t kMaxResponse = size_t{16} * 1024;
constexpr size_t kRecord = size_t{16} * 1024;

std::string Bracketed(const std::string& host, uint16_t port) {
  const std::string name = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  return name + ":" + std::to_string(port);
}

std::string Base64(const std::string& text) {
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  out.resize(static_cast<size_t>(size));
  return out;
}

// The handshake protocol of a proxy, without the transport.
class ProxyHandshake {
 public:
  virtual ~ProxyHandshake() = default;
  virtual std::string Start() = 0;
  // Consumes complete messages from the front of `in`. True: the handshake is complete, and the
  // rest of `in` is tunneled payload.
  virtual Result<bool> Receive(std::string* in, std::string* send) = 0;
};

// CONNECT (RFC 9110, section 9.3.6).
class HttpProxyHandshake final : public ProxyHandshake {
 public:
  HttpProxyHandshake(const Proxy& proxy, std::string to) : to_(std::move(to)) {
    if (!proxy.username.empty()) {
      authorization_ = "proxy-authorization: Basic " +
                       Base64(proxy.username + ":" + proxy.password.Reveal()) + "\r\n";
    }
  }

  std::string Start() override {
    return "CONNECT " + to_ + " HTTP/1.1\r\nhost: " + to_ + "\r\n" +
           std::exchange(authorization_, {}) + "\r\n";
  }

  Result<bool> Receive(std::string* in, std::string*) override {
    const size_t end = in->find("\r\n\r\n");
    if (end == std::string::npos) {
      if (in->size() > kMaxResponse)
        return Status::Unavailable("it does not answer as a proxy does");
      return false;
    }
    std::string line = in->substr(0, std::min<size_t>(in->find("\r\n"), 100));
    std::ranges::replace_if(
        line, [](char c) { return c < ' ' || c > '~'; }, '?');
    in->erase(0, end + 4);
    if (line.starts_with("HTTP/1.") && line.size() >= 12 && line[8] == ' ' && line[9] == '2') {
      return true;
    }
    if (line.find(" 407") != std::string::npos) line += " (put user:password@ into its URL)";
    return Status::Unavailable("CONNECT " + to_ + ": " + line);
  }

 private:
  const std::string to_;
  std::string authorization_;  // a secret
};

// SOCKS5 (RFC 1928) with username/password authentication (RFC 1929).
class SocksProxyHandshake final : public ProxyHandshake {
 public:
  SocksProxyHandshake(const Proxy& proxy, const std::string& host, uint16_t port)
      : username_(proxy.username), password_(proxy.password), request_("\x05\x01\0", 3) {
    unsigned char address[sizeof(in6_addr)];
    const auto append = [this, &address](char kind, size_t size) {
      request_ += kind;
      request_.append(reinterpret_cast<const char*>(address), size);
    };
    if (inet_pton(AF_INET, host.c_str(), address) == 1) {
      append('\x01', 4);
    } else if (inet_pton(AF_INET6, host.c_str(), address) == 1) {
      append('\x04', 16);
    } else {
      // The proxy resolves the name, which may differ from the local resolution.
      request_ += '\x03';
      request_ += static_cast<char>(std::min<size_t>(host.size(), 255));
      request_.append(host, 0, 255);
    }
    request_ += static_cast<char>(port >> 8);
    request_ += static_cast<char>(port & 255);
  }

  std::string Start() override {
    return username_.empty() ? std::string("\x05\x01\0", 3) : std::string("\x05\x02\0\x02", 4);
  }

  Result<bool> Receive(std::string* in, std::string* send) override {
    for (;;) {
      switch (step_) {
        case Step::kMethod: {
          if (in->size() < 2) return false;
          COX_RETURN_IF_ERROR(TakeMethod((*in)[0], (*in)[1], send));
          in->erase(0, 2);
          break;
        }
        case Step::kPassword:
          if (in->size() < 2) return false;
          if ((*in)[1] != 0) return Status::Unavailable("it does not know the user or password");
          in->erase(0, 2);
          Ask(send);
          break;
        case Step::kReply:
          return TakeReply(in);
      }
    }
  }

 private:
  enum class Step { kMethod, kPassword, kReply };

  void Ask(std::string* send) {
    *send += request_;
    step_ = Step::kReply;
  }

  Status TakeMethod(char version, char method, std::string* send) {
    if (version != 5) return Status::Unavailable("it does not speak SOCKS5");
    if (method == 0) {
      Ask(send);
    } else if (method == 2 && !username_.empty()) {
      const std::string& password = password_.Reveal();
      send->append("\x01").append(1, static_cast<char>(std::min<size_t>(username_.size(), 255)));
      send->append(username_, 0, 255);
      send->append(1, static_cast<char>(std::min<size_t>(password.size(), 255)));
      send->append(password, 0, 255);
      step_ = Step::kPassword;
    } else {
      return Status::Unavailable(
          "it wants another way of logging in: put user:password@ into its "
          "URL");
    }
    return {};
  }

  // Version, reply, 0, and the bound address, which is ignored.
  static Result<bool> TakeReply(std::string* in) {
    if (in->size() < 5) return false;
    size_t size = 0;
    switch ((*in)[3]) {
      case 1:
        size = 4 + 4 + 2;
        break;
      case 3:
        size = 4 + 1 + static_cast<unsigned char>((*in)[4]) + 2;
        break;
      case 4:
        size = 4 + 16 + 2;
        break;
      default:
        return Status::Unavailable("it answers with an address of an unknown kind");
    }
    static constexpr std::string_view kReplies[] = {"",
                                                    "general failure",
                                                    "not allowed by its rules",
                                                    "network unreachable",
                                                    "host unreachable",
                                                    "connection refused",
                                                    "time to live expired",
                                                    "command not supported",
                                                    "address type not supported"};
    if (const auto reply = static_cast<unsigned char>((*in)[1]); reply != 0) {
      return Status::Unavailable(reply < std::size(kReplies) ? std::string(kReplies[reply])
                                                             : "unknown failure");
    }
    if (in->size() < size) return false;
    in->erase(0, size);
    return true;
  }

  const std::string username_;
  const Secret<std::string> password_;
  std::string request_;
  Step step_ = Step::kMethod;
};

class ProxyTunnel final : public Tunnel {
 public:
  ProxyTunnel(std::string name, std::unique_ptr<ProxyHandshake> handshake, SslPtr ssl)
      : name_(std::move(name)), handshake_(std::move(handshake)) {
    if (ssl != nullptr) tls_.emplace(std::move(ssl));
  }

  Status Start(std::string* send) override {
    std::string_view nothing;
    return tls_ ? Handshake(&nothing, send) : Send(handshake_->Start(), send);
  }

  Status Receive(std::string_view bytes, std::string* inner, std::string* send) override {
    if (!tls_) return Pass(bytes, inner, send);
    if (!secured_) COX_RETURN_IF_ERROR(Handshake(&bytes, send));
    if (!secured_) return {};
    std::vector<char> plain(kRecord);
    for (;;) {
      size_t got = 0;
      const TlsEngine::State state = tls_->Read(&bytes, send, plain.data(), plain.size(), &got);
      if (state == TlsEngine::State::kWantMore) return {};
      if (state == TlsEngine::State::kClosed) return Failed("it closed the connection");
      if (state == TlsEngine::State::kFailed) return Failed("TLS: " + tls_->error());
      COX_RETURN_IF_ERROR(Pass({plain.data(), got}, inner, send));
    }
  }

  bool open() const override { return open_; }
  bool transparent() const override { return !tls_; }
  Status Wrap(std::string_view bytes, std::string* send) override {
    if (!tls_) {
      send->append(bytes);
    } else if (tls_->Write(bytes, send) != TlsEngine::State::kOk) {
      return Failed("TLS: " + tls_->error());
    }
    return {};
  }

 private:
  Status Failed(const std::string& why) const {
    return Status::Unavailable("proxy " + name_ + ": " + why);
  }

  Status Send(std::string_view text, std::string* send) {
    return text.empty() ? Status() : Wrap(text, send);
  }

  Status Handshake(std::string_view* bytes, std::string* send) {
    const TlsEngine::State state = tls_->Handshake(bytes, send);
    if (state == TlsEngine::State::kWantMore) return {};
    if (state != TlsEngine::State::kOk) return Failed("TLS handshake: " + tls_->error());
    secured_ = true;
    return Send(handshake_->Start(), send);
  }

  // Processes plaintext from the proxy: first its handshake replies, then tunneled payload.
  Status Pass(std::string_view bytes, std::string* inner, std::string* send) {
    if (open_) {
      inner->append(bytes);
      return {};
    }
    unread_.append(bytes);
    std::string answer;
    const Result<bool> done = handshake_->Receive(&unread_, &answer);
    if (!done.ok()) return Failed(done.status().message());
    COX_RETURN_IF_ERROR(Send(answer, send));
    if (*done) {
      open_ = true;
      inner->append(std::exchange(unread_, {}));
    }
    return {};
  }

  const std::string name_;
  const std::unique_ptr<ProxyHandshake> handshake_;
  std::optional<TlsEngine> tls_;
  bool secured_ = false;
  bool open_ = false;
  std::string unread_;
};

}  // namespace

std::unique_ptr<Tunnel> MakeProxyTunnel(const Proxy& proxy, const std::string& host, uint16_t port,
                                        SslPtr ssl) {
  std::unique_ptr<ProxyHandshake> handshake;
  if (proxy.kind == Proxy::Kind::kSocks5) {
    handshake = std::make_unique<SocksProxyHandshake>(proxy, host, port);
  } else {
    handshake = std::make_unique<HttpProxyHandshake>(proxy, Bracketed(host, port));
  }
  return std::make_unique<ProxyTunnel>(Bracketed(proxy.host, proxy.port), std::move(handshake),
                                       std::move(ssl));
}

}  // namespace cox::net
