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

// Reads the frames of one side of a WebSocket (RFC 6455, section 5) and puts messages together.
//
// Strict: reserved bits, unknown opcodes, lengths not in their shortest form, control frames that
// are long or in pieces, continuations of nothing, a mask where there must be none or none where
// there must be one, close codes that must not be sent, and text that is not UTF-8 are violations.
// Memory: at most the message limit, and only for bytes that have come, not for lengths announced.
class FrameParser {
 public:
  enum class Outcome {
    kMore,     // all bytes are used up
    kMessage,  // payload is a whole message
    kPing,     // payload is what the pong has to repeat
    kPong,
    kClose,  // code and reason
    kBad,    // code is what to close with, reason says what is wrong; nothing may be parsed after
  };

  // `masked`: the peer is a client.
  FrameParser(bool masked, size_t max_message_bytes)
      : masked_(masked), max_message_bytes_(max_message_bytes) {}

  // Reads from the front of `in` and takes off what it has read.
  Outcome Parse(std::string_view* in);

  // Of the last outcome; the user may move them away.
  std::string payload;
  int code = 0;
  std::string reason;

 private:
  bool ReadHeader(std::string_view* in);
  // What is wrong with the header that is complete.
  Outcome CheckHeader();
  Outcome CheckLength();
  void ReadPayload(std::string_view* in);
  Outcome FinishFrame();
  Outcome FinishClose();
  Outcome Bad(int with, std::string_view what);

  const bool masked_;
  const size_t max_message_bytes_;
  std::array<uint8_t, 14> header_{};
  size_t header_size_ = 0;   // bytes of it that have come
  bool in_payload_ = false;  // the header is complete and checked
  Opcode opcode_ = Opcode::kContinuation;
  bool fin_ = false;
  uint64_t left_ = 0;        // of the frame's payload
  size_t mask_at_ = 0;       // which byte of the mask is next
  bool in_message_ = false;  // fragments have come, more are to come
  bool text_ = false;
  std::string message_;
  std::string control_;
};

// Appends a frame with `payload` whole. `mask` null: none (a server's).
void AppendFrame(Opcode opcode, std::string_view payload, const std::array<uint8_t, 4>* mask,
                 std::string* out);
// The payload of a close frame. Reasons beyond 123 bytes are cut.
std::string ClosePayload(int code, std::string_view reason);

}  // namespace cox::net
