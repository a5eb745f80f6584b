// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/status.h"

namespace cox::net {

// The protocol of an HTTP/1.1 connection after 101: a WebSocket, or raw bytes. It has no socket.
//
// Threads: loop thread only, after Start. Destruction ends the user's end, if it has not ended yet.
class Link {
 public:
  virtual ~Link() = default;

  // `on_change`: output may be available, or one of the results below has changed, outside of
  // Receive and Produce.
  virtual void Start(std::function<void()> on_change) = 0;
  virtual void Receive(std::string_view bytes) = 0;
  virtual size_t Produce(char* to, size_t room) = 0;
  virtual bool wants_input() const = 0;
  // The connection must be closed as soon as Produce returns 0.
  virtual bool finished() const = 0;
  // The connection must be closed at once, without sending pending output.
  virtual bool aborted() const = 0;
  // No write timeout: the peer's user may read slowly.
  virtual bool patient() const = 0;
  // The peer half-closed. True: output may continue; false: the connection is closed.
  virtual bool InputEnded() { return false; }
  // The output has ended, but input is still received.
  virtual bool output_ended() const { return false; }
  // The end of the output has been written to the kernel.
  virtual void OutputDone() {}
  // The connection is closed (OK: by the peer).
  virtual void Fail(const Status& why) = 0;
  // The server shuts down.
  virtual void GoAway() = 0;
};

}  // namespace cox::net
