// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "coxswain/pod_streams.h"
#include "net/websocket.h"
#include "sdk/streams/channels.h"
#include "sdk/streams/pod_request.h"

namespace cox {
namespace {

constexpr size_t kMaxErrorText = 4096;

class SocketPort final : public PortStream {
 public:
  SocketPort(std::unique_ptr<net::WebSocket> socket, uint16_t port)
      : socket_(std::move(socket)), port_(port) {}

  Status Write(Context& ctx, std::string_view bytes) override {
    return sdk::SendOn(ctx, *socket_, sdk::kPortData, bytes);
  }

  Status Close(Context& ctx) override { return socket_->Close(ctx); }

  Result<Bytes> Read(Context& ctx) override {
    for (;;) {
      COX_ASSIGN_OR_RETURN(const std::optional<Bytes> message, socket_->Receive(ctx));
      if (!message) return Bytes();
      if (message->empty()) continue;
      const auto channel = static_cast<uint8_t>(message->data()[0]);
      if (channel > sdk::kPortError) return Status::Internal("port-forward: unknown channel");
      Bytes payload = message->Slice(1);
      if (!std::exchange(announced_[channel], true)) {
        COX_RETURN_IF_ERROR(CheckAnnounced(payload.view()));
        continue;
      }
      if (payload.empty()) continue;
      if (channel == sdk::kPortData) return payload;
      return Status::Unavailable("port " + std::to_string(port_) + ": " +
                                 std::string(payload.view().substr(0, kMaxErrorText)));
    }
  }

 private:
  Status CheckAnnounced(std::string_view number) const {
    if (number.size() == 2 &&
        (static_cast<uint8_t>(number[0]) | static_cast<uint8_t>(number[1]) << 8) == port_) {
      return {};
    }
    return Status::Internal("port-forward: the server opened another port");
  }

  const std::unique_ptr<net::WebSocket> socket_;
  const uint16_t port_;
  bool announced_[2] = {false, false};  // used by the reader
};

}  // namespace

Result<std::unique_ptr<PortStream>> PortForward(Context& ctx, Client& client, const ObjectKey& pod,
                                                uint16_t port) {
  if (port == 0) return Status::BadRequest("port-forward needs a port");
  COX_ASSIGN_OR_RETURN(sdk::PodRequest request, sdk::PodRequest::To(pod, "portforward"));
  request.Add("ports", std::to_string(port));
  // v5 supports only exec and attach.
  COX_ASSIGN_OR_RETURN(auto socket,
                       client.transport().OpenWebSocket(ctx, std::move(request).Take(),
                                                        {std::string(sdk::kChannelV4)}));
  return std::make_unique<SocketPort>(std::move(socket), port);
}

}  // namespace cox
