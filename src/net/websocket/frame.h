// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace cox::net {

enum class Opcode : uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

// Parses the frames of one direction of a WebSocket (RFC 6455, section 5) and assembles messages.
//
// Strict: reserved bits, unknown opcodes, lengths not in their shortest form, long or fragmented
// control frames, continuations without a message, an unexpected or a missing mask, close codes
// that must not be sent, and text that is not UTF-8 are violations. Memory: at most the message
// limit, and only for received bytes, not for announced lengths.
class FrameParser {
 public:
  enum class Outcome {
    kMore,     // all bytes are consumed
    kMessage,  // payload is a whole message
    kPing,     // payload must be repeated in the pong
    kPong,
    kClose,  // code and reason
    kBad,    // close with `code`; `reason` describes the violation; do not call Parse again
  };

  // `masked`: the peer is a client.
  FrameParser(bool masked, size_t max_message_bytes)
      : masked_(masked), max_message_bytes_(max_message_bytes) {}

  // Consumes bytes from the front of `in`.
  Outcome Parse(std::string_view* in);

  // Data of the last outcome; the caller may move it.
  std::string payload;
  int code = 0;
  std::string reason;

 private:
  bool ReadHeader(std::string_view* in);
  // Validates a complete header.
  Outcome CheckHeader();
  Outcome CheckLength();
  void ReadPayload(std::string_view* in);
  Outcome FinishFrame();
  Outcome FinishClose();
  Outcome Bad(int with, std::string_view what);

  const bool masked_;
  const size_t max_message_bytes_;
  std::array<uint8_t, 14> header_{};
  size_t header_size_ = 0;   // received bytes of it
  bool in_payload_ = false;  // the header is complete and checked
  Opcode opcode_ = Opcode::kContinuation;
  bool fin_ = false;
  uint64_t left_ = 0;        // remaining bytes of the frame's payload
  size_t mask_at_ = 0;       // index of the next mask byte
  bool in_message_ = false;  // a fragmented message is incomplete
  bool text_ = false;
  std::string message_;
  std::string control_;
};

// Appends one frame with the whole `payload`. `mask` null: unmasked (server).
void AppendFrame(Opcode opcode, std::string_view payload, const std::array<uint8_t, 4>* mask,
                 std::string* out);
// The payload of a close frame. The reason is truncated to 123 bytes.
std::string ClosePayload(int code, std::string_view reason);

}  // namespace cox::net
