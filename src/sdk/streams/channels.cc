// SPDX-License-Identifier: Apache-2.0
#include "sdk/streams/channels.h"

#include <string>

namespace cox::sdk {

Status SendOn(Context& ctx, net::WebSocket& socket, uint8_t channel, std::string_view bytes) {
  constexpr size_t kMaxPiece = 32 * 1024;
  while (!bytes.empty()) {
    std::string message(1, static_cast<char>(channel));
    message.append(bytes.substr(0, kMaxPiece));
    bytes.remove_prefix(message.size() - 1);
    COX_RETURN_IF_ERROR(socket.Send(ctx, message));
  }
  return {};
}

}  // namespace cox::sdk
