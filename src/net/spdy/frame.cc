// SPDX-License-Identifier: Apache-2.0
#include "net/spdy/frame.h"

#include <algorithm>

namespace cox::net::spdy {
namespace {

constexpr size_t kHeadBytes = 8;
constexpr uint16_t kVersion = 3;
constexpr uint8_t kFin = 0x01;
constexpr uint32_t kMaxLength = 0xffffff;

void AppendNumber(uint32_t value, int bytes, std::string* out) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    *out += static_cast<char>(value >> shift & 0xff);
  }
}

uint32_t Number(std::string_view bytes, size_t at, size_t size) {
  uint32_t value = 0;
  for (size_t i = at; i < at + size; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

void AppendControlHead(FrameType type, uint8_t flags, size_t length, std::string* out) {
  AppendNumber(0x8000 | kVersion, 2, out);
  AppendNumber(static_cast<uint32_t>(type), 2, out);
  AppendNumber(flags, 1, out);
  AppendNumber(static_cast<uint32_t>(length), 3, out);
}

// The size of a control frame's fixed part; `exact`: the frame has no other part.
struct Shape {
  size_t size;
  bool exact;
};
bool ShapeOf(uint32_t type, Shape* shape) {
  switch (static_cast<FrameType>(type)) {
    case FrameType::kSynStream:
      *shape = {10, false};
      return true;
    case FrameType::kSynReply:
    case FrameType::kHeaders:
      *shape = {4, false};
      return true;
    case FrameType::kRstStream:
    case FrameType::kGoAway:
    case FrameType::kWindowUpdate:
      *shape = {8, true};
      return true;
    case FrameType::kPing:
      *shape = {4, true};
      return true;
    case FrameType::kSettings:
      *shape = {4, false};
      return true;
    default:
      return false;
  }
}

}  // namespace

void AppendData(uint32_t stream, std::string_view bytes, bool fin, std::string* out) {
  do {
    const std::string_view piece = bytes.substr(0, kMaxDataBytes);
    bytes.remove_prefix(piece.size());
    AppendNumber(stream & kMaxStreamId, 4, out);
    AppendNumber(fin && bytes.empty() ? kFin : 0, 1, out);
    AppendNumber(static_cast<uint32_t>(piece.size()), 3, out);
    out->append(piece);
  } while (!bytes.empty());
}

void AppendSynStream(uint32_t stream, std::string_view block, bool fin, std::string* out) {
  AppendControlHead(FrameType::kSynStream, fin ? kFin : 0, 10 + block.size(), out);
  AppendNumber(stream & kMaxStreamId, 4, out);
  AppendNumber(0, 4, out);  // no associated stream
  AppendNumber(0, 2, out);  // no priority
  out->append(block);
}

void AppendSynReply(uint32_t stream, std::string_view block, bool fin, std::string* out) {
  AppendControlHead(FrameType::kSynReply, fin ? kFin : 0, 4 + block.size(), out);
  AppendNumber(stream & kMaxStreamId, 4, out);
  out->append(block);
}

void AppendRstStream(uint32_t stream, uint32_t code, std::string* out) {
  AppendControlHead(FrameType::kRstStream, 0, 8, out);
  AppendNumber(stream & kMaxStreamId, 4, out);
  AppendNumber(code, 4, out);
}

void AppendPing(uint32_t id, std::string* out) {
  AppendControlHead(FrameType::kPing, 0, 4, out);
  AppendNumber(id, 4, out);
}

void AppendGoAway(uint32_t last_stream, std::string* out) {
  AppendControlHead(FrameType::kGoAway, 0, 8, out);
  AppendNumber(last_stream & kMaxStreamId, 4, out);
  AppendNumber(0, 4, out);
}

Parser::Outcome Parser::Fail(std::string why) {
  error_ = std::move(why);
  return Outcome::kBad;
}

Parser::Outcome Parser::ParseControl(Frame* frame) {
  const uint32_t type = Number(head_, 2, 2);
  const uint8_t flags = static_cast<uint8_t>(head_[4]);
  std::string body = std::move(body_);
  body_.clear();
  head_.clear();
  Shape shape{};
  if (!ShapeOf(type, &shape)) return Outcome::kMore;  // unknown types are skipped
  if (body.size() < shape.size || (shape.exact && body.size() != shape.size)) {
    return Fail("a control frame of a wrong size");
  }
  *frame = {};
  frame->type = static_cast<FrameType>(type);
  if (frame->type == FrameType::kSettings) return Outcome::kFrame;
  frame->stream = Number(body, 0, 4);
  if (frame->type != FrameType::kPing) frame->stream &= kMaxStreamId;
  if (shape.exact && shape.size == 8) {
    frame->code = Number(body, 4, 4);
    return Outcome::kFrame;
  }
  if (frame->type == FrameType::kPing) return Outcome::kFrame;
  frame->fin = (flags & kFin) != 0;
  frame->block = body.substr(shape.size);
  return Outcome::kFrame;
}

Parser::Outcome Parser::Parse(std::string_view* bytes, Frame* frame) {
  if (!error_.empty()) return Outcome::kBad;
  const auto take = [&](std::string* to, size_t wanted) {
    const size_t size = std::min(wanted - to->size(), bytes->size());
    to->append(bytes->substr(0, size));
    bytes->remove_prefix(size);
    return to->size() == wanted;
  };
  while (true) {
    if (!take(&head_, kHeadBytes)) return Outcome::kMore;
    const uint32_t length = Number(head_, 5, 3) & kMaxLength;
    if ((head_[0] & 0x80) == 0) {
      if (!in_data_) {
        in_data_ = true;
        data_left_ = length;
      }
      if (data_left_ > 0 && bytes->empty()) return Outcome::kMore;
      const std::string_view piece = bytes->substr(0, data_left_);
      bytes->remove_prefix(piece.size());
      data_left_ -= static_cast<uint32_t>(piece.size());
      *frame = {};
      frame->stream = Number(head_, 0, 4);
      frame->data = piece;
      if (data_left_ > 0) return Outcome::kFrame;
      frame->fin = (static_cast<uint8_t>(head_[4]) & kFin) != 0;
      in_data_ = false;
      head_.clear();
      return Outcome::kFrame;
    }
    if ((Number(head_, 0, 2) & 0x7fff) != kVersion) return Fail("not SPDY/3.1");
    if (length > kMaxControlBytes) return Fail("a control frame that is too large");
    if (!take(&body_, length)) return Outcome::kMore;
    const Outcome outcome = ParseControl(frame);
    if (outcome != Outcome::kMore) return outcome;
  }
}

}  // namespace cox::net::spdy
