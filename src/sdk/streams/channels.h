// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/context.h"
#include "base/status.h"
#include "net/websocket.h"

// Kubernetes' channel protocol: the first byte of each WebSocket message is the channel number.
namespace cox::sdk {

inline constexpr std::string_view kChannelV4 = "v4.channel.k8s.io";
inline constexpr std::string_view kChannelV5 = "v5.channel.k8s.io";

enum class Channel : uint8_t {
  kStdin = 0,
  kStdout = 1,
  kStderr = 2,
  kError = 3,    // a Status, once, at the end
  kResize = 4,   // {"Width":80,"Height":24}
  kClose = 255,  // v5: ends the channel whose number follows
};

// Channels of port-forward with one port: data and error text. The first message of each contains
// the port number, two bytes in little-endian order.
inline constexpr uint8_t kPortData = 0;
inline constexpr uint8_t kPortError = 1;

// Sends `bytes` in messages of at most 32 KiB, so that messages of several channels interleave and
// no server rejects them as too large.
Status SendOn(Context& ctx, net::WebSocket& socket, uint8_t channel, std::string_view bytes);
inline Status SendOn(Context& ctx, net::WebSocket& socket, Channel channel,
                     std::string_view bytes) {
  return SendOn(ctx, socket, static_cast<uint8_t>(channel), bytes);
}

}  // namespace cox::sdk
