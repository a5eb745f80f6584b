// SPDX-License-Identifier: Apache-2.0
// SPDY data of a peer. The first byte selects the size of the reads. The result must not depend on
// it, and headers must stay within their limits.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/spdy/frame.h"

namespace {

using namespace cox::net::spdy;  // NOLINT(google-build-using-namespace): one file, one subject

struct Seen {
  std::vector<std::string> frames;
  std::string data;
  bool operator==(const Seen&) const = default;
};

Seen Read(std::string_view bytes, size_t step) {
  Parser parser;
  HeaderUnpacker unpacker;
  Seen seen;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    Frame frame;
    for (;;) {
      const Parser::Outcome outcome = parser.Parse(&piece, &frame);
      if (outcome == Parser::Outcome::kMore) {
        if (!piece.empty()) __builtin_trap();
        break;
      }
      if (outcome == Parser::Outcome::kBad) {
        seen.frames.push_back(parser.error());
        return seen;
      }
      if (frame.type == FrameType::kData) {
        seen.data.append(std::to_string(frame.stream)).append(frame.data.size(), '.');
        if (!frame.fin) seen.data.resize(seen.data.size() - std::to_string(frame.stream).size());
        continue;
      }
      seen.frames.push_back(std::to_string(static_cast<int>(frame.type)) + " " +
                            std::to_string(frame.stream) + " " + std::to_string(frame.code));
      if (frame.block.empty()) continue;
      const auto headers = unpacker.Unpack(frame.block);
      if (!headers.ok()) {
        seen.frames.push_back(headers.status().message());
        return seen;
      }
      size_t total = 0;
      for (const auto& [name, value] : *headers) total += name.size() + value.size();
      if (total > kMaxHeaderBytes || headers->size() > kMaxHeaders) __builtin_trap();
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Seen whole = Read(bytes, bytes.size() + 1);
  const Seen pieces = Read(bytes, size_t{1} + data[0] % 32);
  if (whole.frames != pieces.frames) __builtin_trap();
  return 0;
}
