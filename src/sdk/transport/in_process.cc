// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "coxswain/transport.h"
#include "net/client/not_sent.h"
#include "net/websocket.h"
#include "net/websocket/handshake.h"
#include "sdk/client/response/status_response.h"
#include "sdk/transport/in_process_exchange.h"

namespace cox {
namespace sdk {
namespace {

// The same as for net::Client.
constexpr size_t kMaxResponseBytes = size_t{256} * 1024 * 1024;
constexpr size_t kMaxErrorBytes = size_t{64} * 1024;

class InProcessStream final : public net::ClientStream, public StoredEventStream {
 public:
  explicit InProcessStream(std::shared_ptr<InProcessExchange> exchange)
      : exchange_(std::move(exchange)) {}
  ~InProcessStream() override { exchange_->Abandon(); }

  int status() const override { return exchange_->status(); }
  const net::Headers& headers() const override { return exchange_->headers(); }
  Result<Bytes> Read(Context& ctx) override { return exchange_->Next(ctx); }
  Result<std::optional<Bytes>> TryRead(const std::function<void()>& ready) override {
    return exchange_->TryNext(ready);
  }

  net::Content* content() override { return exchange_->events() == nullptr ? nullptr : this; }
  const KindInfo& kind() const override { return exchange_->events()->kind(); }
  Result<StoredEvent> Next(const Context& ctx) override { return exchange_->NextEvent(ctx); }
  Result<std::optional<StoredEvent>> TryNext(const std::function<void()>& ready) override {
    return exchange_->TryNextEvent(ready);
  }

  net::Headers TakeHeaders() { return std::move(exchange_->headers()); }
  std::unique_ptr<net::WebSocket> TakeSocket() { return exchange_->TakeSocket(); }

 private:
  const std::shared_ptr<InProcessExchange> exchange_;
};

// Keeps the request's context alive while the caller holds the socket.
class InProcessSocket final : public net::WebSocket {
 public:
  InProcessSocket(std::unique_ptr<InProcessStream> call, std::unique_ptr<net::WebSocket> socket)
      : call_(std::move(call)), socket_(std::move(socket)) {}

  const std::string& protocol() const override { return socket_->protocol(); }
  Status Send(Context& ctx, std::string_view message) override {
    return socket_->Send(ctx, message);
  }
  Result<std::optional<Bytes>> Receive(Context& ctx) override { return socket_->Receive(ctx); }
  std::optional<net::WebSocketClose> closed() const override { return socket_->closed(); }
  Status Close(Context& ctx, int code, std::string_view reason) override {
    return socket_->Close(ctx, code, reason);
  }

 private:
  const std::unique_ptr<InProcessStream> call_;
  const std::unique_ptr<net::WebSocket> socket_;  // destroyed first
};

class InProcessTransport final : public Transport {
 public:
  InProcessTransport(const Context& ctx, net::Handler handler, std::string authorization)
      : context_(ctx.Child()),
        handler_(std::move(handler)),
        authorization_(std::move(authorization)),
        peer_(std::make_shared<const net::Peer>(
            net::Peer{.address = "pipe", .tls = false, .certificates = {}, .identity = nullptr})) {}

  Result<net::Response> Do(Context& ctx, net::Request request) override {
    COX_ASSIGN_OR_RETURN(std::unique_ptr<InProcessStream> stream, Call(ctx, std::move(request)));
    net::Response response{
        .status = stream->status(), .headers = stream->TakeHeaders(), .body = {}};
    size_t size = 0;
    for (;;) {
      COX_ASSIGN_OR_RETURN(Bytes piece, stream->Read(ctx));
      if (piece.empty()) return response;
      size += piece.size();
      if (size > kMaxResponseBytes) return Status::TooLarge("the response is too large");
      response.body.push_back(std::move(piece));
    }
  }

  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) override {
    COX_ASSIGN_OR_RETURN(std::unique_ptr<net::ClientStream> stream, Call(ctx, std::move(request)));
    return stream;
  }

  Result<std::unique_ptr<net::WebSocket>> OpenWebSocket(
      Context& ctx, net::Request request, std::vector<std::string> protocols) override {
    request.method = "GET";
    request.version = 1;  // handlers upgrade only HTTP/1.1 requests
    request.headers.Set("connection", "Upgrade");
    request.headers.Set("upgrade", "websocket");
    net::AddClientHandshake(net::MakeWebSocketKey(), protocols, &request);
    COX_ASSIGN_OR_RETURN(std::unique_ptr<InProcessStream> call, Call(ctx, std::move(request)));
    if (std::unique_ptr<net::WebSocket> socket = call->TakeSocket()) {
      return std::make_unique<InProcessSocket>(std::move(call), std::move(socket));
    }
    std::string body;
    while (body.size() < kMaxErrorBytes) {
      COX_ASSIGN_OR_RETURN(const Bytes piece, call->Read(ctx));
      if (piece.empty()) break;
      body += piece.view();
    }
    return StatusFromResponse(call->status(), call->headers(), body);
  }

 private:
  Result<std::unique_ptr<InProcessStream>> Call(Context& ctx, net::Request request) {
    if (ctx.Done()) return ctx.status();
    if (context_.Done()) return net::MarkNotSent(Status::Unavailable("the server is going away"));
    if (request.method.empty()) request.method = "GET";
    if (request.target.empty()) request.target = "/";
    request.peer = peer_;
    if (!request.headers.Get("host")) request.headers.Add("host", "localhost");
    if (!authorization_.empty()) request.headers.Set("authorization", authorization_);
    request.headers.Clean();
    auto exchange = std::make_shared<InProcessExchange>(context_, std::move(request));
    auto stream = std::make_unique<InProcessStream>(exchange);
    handler_(exchange->MakeHandle());
    COX_RETURN_IF_ERROR(exchange->AwaitResponse(ctx));
    return stream;
  }

  const Context context_;
  const net::Handler handler_;
  const std::string authorization_;
  const std::shared_ptr<const net::Peer> peer_;
};

}  // namespace
}  // namespace sdk

std::shared_ptr<Transport> MakeInProcessTransport(const Context& ctx, net::Handler handler,
                                                  std::string authorization) {
  return std::make_shared<sdk::InProcessTransport>(ctx, std::move(handler),
                                                   std::move(authorization));
}

}  // namespace cox
