// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace cox::net {

// What stands between a channel and its peer: a proxy that has to be told first where the bytes are
// to go. Bytes in, bytes out; the channel owns the socket.
//
// Threads: the channel's loop only. Errors: Unavailable; the channel ends then.
class Tunnel {
 public:
  virtual ~Tunnel() = default;

  // What is said first, appended to `send`.
  virtual Status Start(std::string* send) = 0;
  // `bytes` came. What is for us behind the tunnel is appended to `inner`, answers to `send`.
  virtual Status Receive(std::string_view bytes, std::string* inner, std::string* send) = 0;
  // The way is free: what is inside may begin.
  virtual bool open() const = 0;
  // Once open(), bytes pass as they are, and the tunnel is not needed any more. False: Wrap them.
  virtual bool transparent() const = 0;
  virtual Status Wrap(std::string_view bytes, std::string* send) = 0;
};

}  // namespace cox::net
