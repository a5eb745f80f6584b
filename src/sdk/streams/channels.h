// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/context.h"
#include "base/status.h"
#include "net/websocket.h"

// Kubernetes' channel protocol: each message of a WebSocket begins with the number of the channel
// that the rest belongs to.
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

// Of port-forward with one port: its bytes, and the words of what went wrong. The first message of
// each is the port's number, two bytes, the low one first.
inline constexpr uint8_t kPortData = 0;
inline constexpr uint8_t kPortError = 1;

// Sends `bytes` in messages of at most 32 KiB, so that they mix with others and no server finds one
// too large.
Status SendOn(Context& ctx, net::WebSocket& socket, uint8_t channel, std::string_view bytes);
inline Status SendOn(Context& ctx, net::WebSocket& socket, Channel channel,
                     std::string_view bytes) {
  return SendOn(ctx, socket, static_cast<uint8_t>(channel), bytes);
}

}  // namespace cox::sdk
