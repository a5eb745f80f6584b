// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "apiserver/endpoints/streaming/translate.h"
#include "base/scope.h"

namespace cox::apiserver {
namespace {

// The time limit for the client's close handshake.
constexpr std::chrono::seconds kCloseTimeout{5};

Status ToNode(Context& ctx, net::WebSocket& client, net::ByteStream& node) {
  while (true) {
    COX_ASSIGN_OR_RETURN(const std::optional<Bytes> message, client.Receive(ctx));
    if (!message) break;
    COX_RETURN_IF_ERROR(node.Write(ctx, message->view()));
  }
  node.EndWriting();
  return {};
}

Status ToClient(Context& ctx, net::WebSocket& client, net::ByteStream& node) {
  while (true) {
    COX_ASSIGN_OR_RETURN(const Bytes bytes, node.Read(ctx));
    if (bytes.empty()) return {};
    COX_RETURN_IF_ERROR(client.Send(ctx, bytes.view()));
  }
}

}  // namespace

Status TunnelBytes(const Context& ctx, net::WebSocket& client, net::ByteStream& node) {
  Scope scope(ctx, "tunnel");
  // If the client disconnects or closes the WebSocket, both directions end.
  COX_RETURN_IF_ERROR(scope.Go("tunnel-in", [&](Context& work) {
    static_cast<void>(ToNode(work, client, node));
    scope.Stop();
  }));
  Context work = scope.context();
  Status status = ToClient(work, client, node);
  if (status.ok()) {
    Context closing = ctx.WithTimeout(kCloseTimeout);
    static_cast<void>(client.Close(closing));
  }
  const bool left = scope.stop_requested() && !ctx.Done();
  scope.Stop();
  scope.Wait();
  return left ? Status() : status;
}

}  // namespace cox::apiserver
