// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Hand-written HTTP/2 frames, as from a hostile client: for tests.
namespace cox::net::frames {

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum Type : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kRstStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};
inline constexpr uint8_t kEndStream = 1;
inline constexpr uint8_t kAck = 1;
inline constexpr uint8_t kEndHeaders = 4;

inline std::string Number(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

inline std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string frame = Number(static_cast<uint32_t>(payload.size())).substr(1);
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  return frame.append(Number(stream)).append(payload);
}

// HPACK: literals without indexing and without Huffman coding; texts up to 64 KB.
inline std::string Text(std::string_view text) {
  std::string out;
  if (text.size() < 127) {
    out += static_cast<char>(text.size());
  } else {
    out += '\x7f';
    size_t rest = text.size() - 127;
    for (; rest >= 128; rest /= 128) out += static_cast<char>(rest % 128 + 128);
    out += static_cast<char>(rest);
  }
  return out.append(text);
}
inline std::string Field(std::string_view name, std::string_view value) {
  return std::string(1, '\0') + Text(name) + Text(value);
}
inline std::string RequestFields(std::string_view method, std::string_view path) {
  return Field(":method", method) + Field(":scheme", "https") + Field(":authority", "test") +
         Field(":path", path);
}
inline std::string Get(uint32_t stream, std::string_view path = "/") {
  return Frame(kHeaders, kEndHeaders | kEndStream, stream, RequestFields("GET", path));
}
inline std::string Post(uint32_t stream) {
  return Frame(kHeaders, kEndHeaders, stream, RequestFields("POST", "/"));
}
inline std::string Hello() { return std::string(kPreface) + Frame(kSettings, 0, 0, ""); }

struct Parsed {
  uint8_t type;
  uint8_t flags;
  uint32_t stream;
  std::string payload;
};

inline uint32_t ReadNumber(std::string_view bytes) {
  uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

inline std::vector<Parsed> Parse(std::string_view bytes) {
  std::vector<Parsed> result;
  while (bytes.size() >= 9) {
    const size_t size = ReadNumber(bytes.substr(0, 3));
    result.push_back({static_cast<uint8_t>(bytes[3]), static_cast<uint8_t>(bytes[4]),
                      ReadNumber(bytes.substr(5, 4)), std::string(bytes.substr(9, size))});
    bytes.remove_prefix(std::min(bytes.size(), 9 + size));
  }
  return result;
}

// The error code of the last frame of that type; -1 if there is none. In a GOAWAY, the last stream
// ID precedes it.
inline int64_t ErrorOf(std::string_view bytes, uint8_t type) {
  int64_t error = -1;
  for (const Parsed& frame : Parse(bytes)) {
    if (frame.type == type)
      error = ReadNumber(std::string_view(frame.payload).substr(type == kGoAway ? 4 : 0, 4));
  }
  return error;
}

}  // namespace cox::net::frames
