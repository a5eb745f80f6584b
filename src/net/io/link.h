// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/status.h"

namespace cox::net {

// What an HTTP/1.1 connection has become after 101: a WebSocket, or bytes. The protocol's side:
// bytes in, bytes out, no socket.
//
// Threads: the loop's only, from Start on. Destroying it ends what its user holds, if nothing else
// has.
class Link {
 public:
  virtual ~Link() = default;

  // `on_change`: there may be something to send, or one of the answers below changed, outside of
  // Receive and Produce.
  virtual void Start(std::function<void()> on_change) = 0;
  virtual void Receive(std::string_view bytes) = 0;
  virtual size_t Produce(char* to, size_t room) = 0;
  virtual bool wants_input() const = 0;
  // The connection is to be closed as soon as Produce gives nothing.
  virtual bool finished() const = 0;
  // The connection is to be closed at once, whatever waits to be sent.
  virtual bool aborted() const = 0;
  // The peer may leave what we send where it is for as long as it likes: its user reads slowly.
  virtual bool patient() const = 0;
  // The peer has sent all it will. True: we may go on sending; false: that is the end of it all.
  virtual bool InputEnded() { return false; }
  // Nothing will be sent any more, but what comes is wanted.
  virtual bool output_ended() const { return false; }
  // The same has reached the kernel.
  virtual void OutputDone() {}
  // The connection is gone (OK: the peer ended it).
  virtual void Fail(const Status& why) = 0;
  // The server wants to end.
  virtual void GoAway() = 0;
};

}  // namespace cox::net
