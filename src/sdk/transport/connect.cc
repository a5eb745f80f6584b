// SPDX-License-Identifier: Apache-2.0
#include "sdk/transport/connect.h"

#include <utility>

#include "base/strings.h"
#include "net/url.h"
#include "net/websocket.h"
#include "sdk/client/response/status_response.h"
#include "sdk/transport/exec_credential.h"
#include "sdk/transport/proxy.h"
#include "sdk/transport/request_headers.h"
#include "sdk/transport/tls_clients.h"

namespace cox {
namespace sdk {
namespace {

constexpr int kUnauthorized = 401;

// A stream with the client it runs on, which new requests may no longer use.
class HeldStream final : public net::ClientStream {
 public:
  HeldStream(std::shared_ptr<net::Client> client, std::unique_ptr<net::ClientStream> stream)
      : client_(std::move(client)), stream_(std::move(stream)) {}

  int status() const override { return stream_->status(); }
  const net::Headers& headers() const override { return stream_->headers(); }
  Result<Bytes> Read(Context& ctx) override { return stream_->Read(ctx); }
  Result<std::optional<Bytes>> TryRead(const std::function<void()>& ready) override {
    return stream_->TryRead(ready);
  }

 private:
  const std::shared_ptr<net::Client> client_;
  const std::unique_ptr<net::ClientStream> stream_;  // after client_, so that it is destroyed first
};

class HttpTransport final : public Transport {
 public:
  HttpTransport(std::string prefix, std::chrono::milliseconds ping_after,
                std::unique_ptr<RequestHeaders> headers, std::unique_ptr<ExecCredentials> plugin,
                std::unique_ptr<TlsClients> clients)
      : prefix_(std::move(prefix)),
        ping_after_(ping_after),
        headers_(std::move(headers)),
        plugin_(std::move(plugin)),
        clients_(std::move(clients)) {}

  Result<net::Response> Do(Context& ctx, net::Request request) override {
    return WithCredentials(
        ctx, std::move(request),
        [&](const Credential& credential, net::Request ready) -> Result<net::Response> {
          COX_ASSIGN_OR_RETURN(auto client, clients_->For(credential));
          return client->Do(ctx, std::move(ready));
        });
  }

  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) override {
    using Stream = std::unique_ptr<net::ClientStream>;
    return WithCredentials(ctx, std::move(request),
                           [&](const Credential& credential, net::Request ready) -> Result<Stream> {
                             COX_ASSIGN_OR_RETURN(auto client, clients_->For(credential));
                             COX_ASSIGN_OR_RETURN(Stream stream,
                                                  client->Start(ctx, std::move(ready)));
                             return std::make_unique<HeldStream>(client, std::move(stream));
                           });
  }

  Result<std::unique_ptr<net::WebSocket>> OpenWebSocket(
      Context& ctx, net::Request request, std::vector<std::string> protocols) override {
    return WithCredentials(ctx, std::move(request),
                           [&](const Credential& credential,
                               net::Request ready) -> Result<std::unique_ptr<net::WebSocket>> {
                             net::Response refusal{.status = 0, .headers = {}, .body = {}};
                             auto socket = net::ConnectWebSocket(
                                 ctx, clients_->OptionsFor(credential), std::move(ready), protocols,
                                 {.ping_after = ping_after_}, &refusal);
                             if (socket.ok() || refusal.status == 0) return socket;
                             // Convert it to the API's Status, as for other requests.
                             const std::string_view body =
                                 refusal.body.empty() ? "" : refusal.body[0].view();
                             return StatusFromResponse(refusal.status, refusal.headers, body);
                           });
  }

 private:
  using Credential = ExecCredentials::Ptr;

  // Sends `request` with the current credentials. Credentials of a plugin may be revoked before
  // they expire: after 401, sends the request once more with new ones.
  template <class Send>
  auto WithCredentials(Context& ctx, net::Request request, Send send)
      -> decltype(send(nullptr, net::Request())) {
    request.target.insert(0, prefix_);
    if (plugin_ == nullptr) {
      headers_->Add({}, &request.headers);
      return send(nullptr, std::move(request));
    }
    COX_ASSIGN_OR_RETURN(const Credential credential, plugin_->Get(ctx));
    {
      net::Request first = request;
      headers_->Add(credential->token, &first.headers);
      auto answer = send(credential, std::move(first));
      if (!IsRefused(answer)) return answer;
    }
    COX_ASSIGN_OR_RETURN(const Credential other, plugin_->GetOtherThan(ctx, credential));
    headers_->Add(other->token, &request.headers);
    return send(other, std::move(request));
  }

  static bool IsRefused(const Result<net::Response>& response) {
    return response.ok() && response->status == kUnauthorized;
  }
  static bool IsRefused(const Result<std::unique_ptr<net::ClientStream>>& stream) {
    return stream.ok() && (*stream)->status() == kUnauthorized;
  }
  static bool IsRefused(const Result<std::unique_ptr<net::WebSocket>>& socket) {
    return !socket.ok() && socket.status().code() == kUnauthorized;
  }

  const std::string prefix_;
  const std::chrono::milliseconds ping_after_;
  const std::unique_ptr<RequestHeaders> headers_;
  const std::unique_ptr<ExecCredentials> plugin_;  // null: none
  const std::unique_ptr<TlsClients> clients_;
};

Result<net::ClientOptions> OptionsFor(const Config& config, const net::Url& server,
                                      const ConnectOptions& connect) {
  net::ClientOptions options;
  COX_ASSIGN_OR_RETURN(options.proxy, ProxyFor(config.proxy_url, server, connect.environment));
  options.host = server.host;
  options.tls = server.scheme == "https";
  options.port = server.port != 0 ? server.port : options.tls ? 443 : 80;
  // Without TLS there is no protocol negotiation; all servers support HTTP/1.1.
  options.http2 = options.tls;
  options.ping_after = connect.ping_after;
  return options;
}

}  // namespace

Result<std::shared_ptr<Transport>> Connect(const Context& ctx, const Config& config,
                                           const ConnectOptions& options) {
  const auto server = net::ParseUrl(config.server);
  if (!server.ok()) return server.status().WithContext("server");
  if ((server->scheme != "https" && server->scheme != "http") || !server->username.empty() ||
      !server->password.empty()) {
    return Status::BadRequest("server: want https://host[:port][/path]");
  }
  COX_ASSIGN_OR_RETURN(auto headers,
                       RequestHeaders::Open(ctx, config, options.environment.program));
  std::unique_ptr<ExecCredentials> plugin;
  if (config.exec) {
    COX_ASSIGN_OR_RETURN(plugin, ExecCredentials::Create(config, options.environment.terminal));
  }
  COX_ASSIGN_OR_RETURN(net::ClientOptions client, OptionsFor(config, *server, options));
  COX_ASSIGN_OR_RETURN(auto clients, TlsClients::Open(ctx, config, std::move(client)));
  return std::make_shared<HttpTransport>(server->path, options.ping_after, std::move(headers),
                                         std::move(plugin), std::move(clients));
}

}  // namespace sdk

Result<std::shared_ptr<Transport>> ConnectTransport(const Context& ctx, const Config& config) {
  return sdk::Connect(ctx, config, {});
}

}  // namespace cox
