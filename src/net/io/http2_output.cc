// SPDX-License-Identifier: Apache-2.0
#include "net/io/http2_output.h"

#include <algorithm>
#include <cstring>

namespace cox::net {
namespace {

constexpr size_t kFrameHeader = 9;
// A remaining buffer smaller than this gets no DATA frame of its own.
constexpr size_t kSmallestCut = 4 * 1024;

}  // namespace

nghttp2_nv Http2Field(std::string_view name, std::string_view value) {
  // nghttp2's type has no const, because its no-copy mode takes the pointers.
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

size_t Http2Output::Produce(nghttp2_session* session, char* to, size_t room, bool* failed) {
  out_ = to;
  room_ = room;
  used_ = 0;
  for (;;) {
    const size_t size = std::min(rest_.size(), room_ - used_);
    if (size > 0) std::memcpy(out_ + used_, rest_.data(), size);
    used_ += size;
    rest_.remove_prefix(size);
    if (!rest_.empty()) break;
    const uint8_t* data = nullptr;
    const ssize_t got = nghttp2_session_mem_send(session, &data);
    if (got < 0) *failed = true;
    if (got <= 0) break;  // nothing to send, or no room for the next DATA frame
    rest_ = {reinterpret_cast<const char*>(data), static_cast<size_t>(got)};
  }
  return used_;
}

size_t Http2Output::FrameSize(size_t available) const {
  const size_t left = room_ - used_;
  return left > kSmallestCut ? std::min(available, left - kFrameHeader) : available;
}

char* Http2Output::BeginData(const uint8_t* frame_header, size_t length) {
  if (room_ - used_ < kFrameHeader + length) return nullptr;
  std::memcpy(out_ + used_, frame_header, kFrameHeader);
  char* const to = out_ + used_ + kFrameHeader;
  used_ += kFrameHeader + length;
  return to;
}

}  // namespace cox::net
