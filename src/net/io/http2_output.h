// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cox::net {

// A header field for nghttp2, which copies name and value on submit.
nghttp2_nv Http2Field(std::string_view name, std::string_view value);

// The size of a header field as limits count it (RFC 9113, section 6.5.2).
constexpr size_t Http2FieldSize(size_t name_size, size_t value_size) {
  constexpr size_t kOverhead = 32;
  return name_size + value_size + kOverhead;
}

// Fills a buffer with the frames of an nghttp2 session, so that small frames of many streams share
// one TLS record. DATA is copied directly into that buffer: the session returns NO_COPY and at most
// FrameSize() bytes from nghttp2's read callback, and its send callback uses BeginData.
class Http2Output {
 public:
  // Returns the number of bytes written to `to`. Sets *failed when the session cannot continue.
  size_t Produce(nghttp2_session* session, char* to, size_t room, bool* failed);

  // The payload size of the next DATA frame.
  size_t FrameSize(size_t available) const;
  // Writes the frame header and returns the address for its `length` bytes; null: no room now,
  // return WOULDBLOCK.
  char* BeginData(const uint8_t* frame_header, size_t length);

  // No frame is partially written.
  bool empty() const { return rest_.empty(); }

 private:
  char* out_ = nullptr;
  size_t room_ = 0;
  size_t used_ = 0;
  std::string_view rest_;  // rest of a frame that did not fit; nghttp2's memory
};

}  // namespace cox::net
