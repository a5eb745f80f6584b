// SPDX-License-Identifier: Apache-2.0
#include "testkit/faults/event_frames.h"

#include <cstddef>

namespace cox::testkit {
namespace {

constexpr size_t kLengthBytes = 4;

}  // namespace

std::optional<std::string> EventFrames::Next() {
  size_t size = 0;
  if (protobuf_) {
    if (pending_.size() < kLengthBytes) return std::nullopt;
    for (size_t i = 0; i < kLengthBytes; ++i) {
      size = size << 8U | static_cast<unsigned char>(pending_[i]);
    }
    size += kLengthBytes;
    if (pending_.size() < size) return std::nullopt;
  } else {
    const size_t line = pending_.find('\n');
    if (line == std::string::npos) return std::nullopt;
    size = line + 1;
  }
  std::string event = pending_.substr(0, size);
  pending_.erase(0, size);
  return event;
}

bool EventFrames::IsBookmark(std::string_view event) const {
  // The type comes first in both formats; in protobuf it is field 1 with a length of 8 bytes.
  if (!protobuf_) return event.starts_with(R"({"type":"BOOKMARK")");
  return event.size() > kLengthBytes && event.substr(kLengthBytes)
                                            .starts_with(
                                                "\x0a\x08"
                                                "BOOKMARK");
}

}  // namespace cox::testkit
