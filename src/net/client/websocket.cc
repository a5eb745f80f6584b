// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/status_code.h"
#include "net/client/call.h"
#include "net/client/pool.h"
#include "net/client/response_collector.h"
#include "net/websocket/handshake.h"
#include "net/websocket/link.h"

namespace cox::net {
namespace {

// A WebSocket with its own event loop and connection pool.
class ClientWebSocket final : public WebSocket {
 public:
  ClientWebSocket(ClientOptions client, const WebSocketOptions& options, ClientContexts tls,
                  std::shared_ptr<EventLoop> loop)
      : loop_(std::move(loop)),
        core_(std::make_shared<WebSocketCore>(loop_, options, /*client=*/true)),
        pool_(std::make_shared<ClientPool>(std::move(client), std::move(tls), loop_)) {}
  ~ClientWebSocket() override {
    loop_->Stop();
    pool_->Close();
  }

  // Returns the server's response; the socket is usable if it is 101.
  Result<Response> Connect(Context& ctx, Request request, std::vector<std::string> protocols) {
    const std::string key = MakeWebSocketKey();
    AddClientHandshake(key, protocols, &request);
    request.headers.Clean();
    const auto answered = std::make_shared<ResponseCollector>();
    const auto call =
        std::make_shared<ClientCall>(loop_, pool_, std::move(request), answered, /*reads=*/false);
    call->upgrade = [this, key, protocols = std::move(protocols)](
                        const Headers& headers) -> Result<std::unique_ptr<Link>> {
      COX_ASSIGN_OR_RETURN(protocol_, CheckServerHandshake(headers, key, protocols));
      return std::unique_ptr<Link>(std::make_unique<WebSocketLink>(core_));
    };
    call->Start();
    if (Status status = answered->Wait(ctx); !status.ok()) {
      call->Cancel();
      return status;
    }
    return answered->Take();
  }

  const std::string& protocol() const override { return protocol_; }
  Status Send(Context& ctx, std::string_view message) override { return core_->Send(ctx, message); }
  Result<std::optional<Bytes>> Receive(Context& ctx) override { return core_->Receive(ctx); }
  std::optional<WebSocketClose> closed() const override { return core_->closed(); }
  Status Close(Context& ctx, int code, std::string_view reason) override {
    return core_->Close(ctx, code, reason);
  }

 private:
  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<WebSocketCore> core_;
  std::string protocol_;  // written by the loop during the handshake, then constant
  const std::shared_ptr<ClientPool> pool_;
};

Status Refused(const Response& response) {
  std::string message =
      "the server refused the WebSocket with status " + std::to_string(response.status);
  if (!response.body.empty()) message.append(": ").append(response.body[0].view().substr(0, 1024));
  return {NamelessReason(response.status), std::move(message)};
}

}  // namespace

Result<std::unique_ptr<WebSocket>> ConnectWebSocket(Context& ctx, ClientOptions client,
                                                    Request request,
                                                    std::vector<std::string> protocols,
                                                    const WebSocketOptions& options,
                                                    Response* refusal) {
  client.http2 = false;
  COX_ASSIGN_OR_RETURN(ClientContexts tls, MakeClientContexts(client));
  auto loop = std::make_shared<EventLoop>(ctx.clock());
  COX_RETURN_IF_ERROR(loop->Start("websocket"));
  auto socket = std::make_unique<ClientWebSocket>(std::move(client), options, std::move(tls),
                                                  std::move(loop));
  request.method = "GET";
  if (request.target.empty()) request.target = "/";
  COX_ASSIGN_OR_RETURN(Response answer,
                       socket->Connect(ctx, std::move(request), std::move(protocols)));
  if (answer.status == 101) return std::unique_ptr<WebSocket>(std::move(socket));
  Status status = Refused(answer);
  if (refusal != nullptr) *refusal = std::move(answer);
  return status;
}

}  // namespace cox::net
