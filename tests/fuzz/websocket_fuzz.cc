// SPDX-License-Identifier: Apache-2.0
// WebSocket data of a peer. The first byte selects the side (bit 0: masked frames of a client) and
// the size of the reads. The result must not depend on the size, and written frames can be parsed
// again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/websocket/frame.h"

namespace {

using cox::net::FrameParser;

constexpr size_t kLimit = 500;

std::vector<std::string> Read(bool masked, std::string_view bytes, size_t step) {
  FrameParser parser(masked, kLimit);
  std::vector<std::string> seen;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    for (;;) {
      const auto outcome = parser.Parse(&piece);
      if (outcome == FrameParser::Outcome::kMore) {
        if (!piece.empty()) __builtin_trap();
        break;
      }
      if (parser.payload.size() > kLimit) __builtin_trap();
      seen.push_back(std::to_string(static_cast<int>(outcome)) + " " + parser.payload + " " +
                     std::to_string(parser.code) + " " + parser.reason);
      if (outcome == FrameParser::Outcome::kBad) return seen;
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool masked = data[0] % 2 == 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = Read(masked, bytes, bytes.size() + 1);
  if (whole != Read(masked, bytes, size_t{1} + data[0] / 2 % 32)) __builtin_trap();

  const std::array<uint8_t, 4> mask{data[0], 2, 3, 4};
  std::string again;
  cox::net::AppendFrame(cox::net::Opcode::kBinary, bytes.substr(0, kLimit),
                        masked ? &mask : nullptr, &again);
  const auto back = Read(masked, again, 7);
  if (back.size() != 1 || back[0].find(bytes.substr(0, kLimit)) == std::string::npos) {
    __builtin_trap();
  }
  return 0;
}
