// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace cox::net {

// A proxy handshake between a channel and its peer, without the socket, which the channel owns.
//
// Threads: the channel's loop only. Errors: Unavailable; the channel is closed then.
class Tunnel {
 public:
  virtual ~Tunnel() = default;

  // Appends the first output to `send`.
  virtual Status Start(std::string* send) = 0;
  // Processes received `bytes`. Appends tunneled payload to `inner`, and replies to the proxy to
  // `send`.
  virtual Status Receive(std::string_view bytes, std::string* inner, std::string* send) = 0;
  // The proxy handshake is complete.
  virtual bool open() const = 0;
  // Once open(), bytes pass unmodified, and the tunnel is not needed any more. False: call Wrap.
  virtual bool transparent() const = 0;
  virtual Status Wrap(std::string_view bytes, std::string* send) = 0;
};

}  // namespace cox::net
