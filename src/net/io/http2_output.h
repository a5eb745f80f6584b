// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cox::net {

// A header field for nghttp2, which copies both when it is submitted.
nghttp2_nv Http2Field(std::string_view name, std::string_view value);

// Fills a buffer with the frames that an nghttp2 session has to send, so that small frames of many
// streams share one TLS record. DATA goes from its owner straight into that buffer: the session
// answers nghttp2's read callback with NO_COPY and at most FrameSize() bytes, and its send callback
// with what BeginData returns.
class Http2Output {
 public:
  // The bytes put at `to`. Sets *failed when the session is beyond help.
  size_t Produce(nghttp2_session* session, char* to, size_t room, bool* failed);

  // How much of `available` the next DATA frame should carry.
  size_t FrameSize(size_t available) const;
  // Puts the frame's header into the buffer and returns where its `length` bytes belong; null: no
  // room now, answer WOULDBLOCK.
  char* BeginData(const uint8_t* frame_header, size_t length);

  // No frame is cut in two.
  bool empty() const { return rest_.empty(); }

 private:
  char* out_ = nullptr;
  size_t room_ = 0;
  size_t used_ = 0;
  std::string_view rest_;  // of a frame for which there was no room; nghttp2's memory
};

}  // namespace cox::net
