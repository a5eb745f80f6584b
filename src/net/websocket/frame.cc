// SPDX-License-Identifier: Apache-2.0
#include "net/websocket/frame.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "net/websocket.h"

namespace cox::net {
namespace {

constexpr size_t kMaxControl = 125;
constexpr uint8_t kFin = 0x80;
constexpr uint8_t kReserved = 0x70;
constexpr uint8_t kMasked = 0x80;

bool IsControl(Opcode opcode) { return static_cast<uint8_t>(opcode) >= 8; }

bool IsKnown(uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const Rune rune = DecodeRune(text);
    if (!rune.valid) return false;
    text.remove_prefix(rune.size);
  }
  return true;
}

// Close codes that may be sent on the wire.
bool MaySend(int code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

}  // namespace

FrameParser::Outcome FrameParser::Bad(int with, std::string_view what) {
  code = with;
  reason = what;
  return Outcome::kBad;
}

FrameParser::Outcome FrameParser::Parse(std::string_view* in) {
  for (;;) {
    if (!in_payload_) {
      // The first two bytes determine the length of the header; they are checked as soon as they
      // arrive.
      if (header_size_ < 2) {
        if (!ReadHeader(in)) return Outcome::kMore;
        if (const Outcome bad = CheckHeader(); bad == Outcome::kBad) return bad;
      }
      if (!ReadHeader(in)) return Outcome::kMore;
      if (const Outcome bad = CheckLength(); bad == Outcome::kBad) return bad;
      in_payload_ = true;
    }
    ReadPayload(in);
    if (left_ > 0) return Outcome::kMore;
    if (const Outcome outcome = FinishFrame(); outcome != Outcome::kMore) return outcome;
  }
}

bool FrameParser::ReadHeader(std::string_view* in) {
  size_t size = 2;
  if (header_size_ >= 2) {
    const uint8_t length = header_[1] & 0x7f;
    size += length == 126 ? 2 : length == 127 ? 8 : 0;
    size += masked_ ? 4 : 0;
  }
  const size_t take = std::min(size - header_size_, in->size());
  std::copy_n(in->begin(), take, header_.begin() + static_cast<ptrdiff_t>(header_size_));
  header_size_ += take;
  in->remove_prefix(take);
  return header_size_ == size;
}

FrameParser::Outcome FrameParser::CheckHeader() {
  const uint8_t opcode = header_[0] & 0x0f;
  fin_ = (header_[0] & kFin) != 0;
  if ((header_[0] & kReserved) != 0) return Bad(close_code::kProtocolError, "reserved bits set");
  if (!IsKnown(opcode)) return Bad(close_code::kProtocolError, "unknown opcode");
  opcode_ = static_cast<Opcode>(opcode);
  if (((header_[1] & kMasked) != 0) != masked_) {
    return Bad(close_code::kProtocolError,
               masked_ ? "frame of a client without mask" : "frame of a server with mask");
  }
  if (IsControl(opcode_)) {
    if (!fin_) return Bad(close_code::kProtocolError, "control frame in pieces");
    if ((header_[1] & 0x7f) > kMaxControl) {
      return Bad(close_code::kProtocolError, "control frame too long");
    }
  } else if ((opcode_ == Opcode::kContinuation) != in_message_) {
    return Bad(close_code::kProtocolError,
               in_message_ ? "message within a message" : "continuation of nothing");
  }
  return Outcome::kMore;
}

FrameParser::Outcome FrameParser::CheckLength() {
  left_ = header_[1] & 0x7f;
  if (left_ >= 126) {
    const size_t bytes = left_ == 126 ? 2 : 8;
    left_ = 0;
    for (size_t i = 0; i < bytes; ++i) left_ = left_ << 8 | header_[2 + i];
    if (left_ < (bytes == 2 ? 126U : 65'536U) || left_ >> 63 != 0) {
      return Bad(close_code::kProtocolError, "length not in its shortest form");
    }
  }
  if (!IsControl(opcode_) && left_ > max_message_bytes_ - message_.size()) {
    return Bad(close_code::kTooBig, "message too big");
  }
  mask_at_ = 0;
  return Outcome::kMore;
}

void FrameParser::ReadPayload(std::string_view* in) {
  std::string& to = IsControl(opcode_) ? control_ : message_;
  const size_t take = static_cast<size_t>(std::min<uint64_t>(left_, in->size()));
  const size_t begin = to.size();
  to.append(in->substr(0, take));
  if (masked_) {
    const uint8_t* const mask = header_.data() + header_size_ - 4;
    for (size_t i = 0; i < take; ++i) {
      to[begin + i] = static_cast<char>(to[begin + i] ^ mask[(mask_at_ + i) & 3]);
    }
    mask_at_ = (mask_at_ + take) & 3;
  }
  left_ -= take;
  in->remove_prefix(take);
}

FrameParser::Outcome FrameParser::FinishFrame() {
  header_size_ = 0;
  in_payload_ = false;
  if (IsControl(opcode_)) {
    payload = std::exchange(control_, {});
    if (opcode_ == Opcode::kClose) return FinishClose();
    return opcode_ == Opcode::kPing ? Outcome::kPing : Outcome::kPong;
  }
  if (opcode_ != Opcode::kContinuation) text_ = opcode_ == Opcode::kText;
  in_message_ = !fin_;
  if (!fin_) return Outcome::kMore;
  payload = std::exchange(message_, {});
  if (text_ && !IsUtf8(payload)) return Bad(close_code::kBadText, "text that is not UTF-8");
  return Outcome::kMessage;
}

FrameParser::Outcome FrameParser::FinishClose() {
  code = close_code::kNone;
  reason.clear();
  if (payload.empty()) return Outcome::kClose;
  if (payload.size() == 1) return Bad(close_code::kProtocolError, "half a close code");
  code = static_cast<uint8_t>(payload[0]) << 8 | static_cast<uint8_t>(payload[1]);
  if (!MaySend(code)) return Bad(close_code::kProtocolError, "bad close code");
  reason = payload.substr(2);
  if (!IsUtf8(reason)) return Bad(close_code::kBadText, "close reason that is not UTF-8");
  return Outcome::kClose;
}

void AppendFrame(Opcode opcode, std::string_view payload, const std::array<uint8_t, 4>* mask,
                 std::string* out) {
  const uint8_t masked = mask != nullptr ? kMasked : 0;
  const uint64_t size = payload.size();
  out->reserve(out->size() + 14 + payload.size());
  out->push_back(static_cast<char>(kFin | static_cast<uint8_t>(opcode)));
  size_t bytes = 0;
  if (size < 126) {
    out->push_back(static_cast<char>(masked | size));
  } else {
    bytes = size < 65'536 ? 2 : 8;
    out->push_back(static_cast<char>(masked | (bytes == 2 ? 126 : 127)));
  }
  while (bytes-- > 0) out->push_back(static_cast<char>(size >> (8 * bytes) & 0xff));
  if (mask != nullptr) out->append(mask->begin(), mask->end());
  const size_t begin = out->size();
  out->append(payload);
  if (mask == nullptr) return;
  for (size_t i = 0; i < payload.size(); ++i) {
    (*out)[begin + i] = static_cast<char>((*out)[begin + i] ^ (*mask)[i & 3]);
  }
}

std::string ClosePayload(int code, std::string_view reason) {
  if (code == close_code::kNone) return {};
  std::string payload{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
  if (reason.size() > kMaxControl - 2) {
    // Do not split a UTF-8 character.
    size_t end = kMaxControl - 2;
    while (end > 0 && (static_cast<uint8_t>(reason[end]) & 0xc0) == 0x80) --end;
    reason = reason.substr(0, end);
  }
  payload += reason;
  return payload;
}

}  // namespace cox::net
