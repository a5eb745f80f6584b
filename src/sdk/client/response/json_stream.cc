// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/json_stream.h"

#include <cstring>

namespace cox::sdk {
namespace {

// Buffers larger than this are released after a large object.
constexpr size_t kKeptCapacity = 256 * 1024;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The first quote or backslash at or after `at`, or the end. Scans eight bytes at a time, because
// most bytes of an object are in strings.
const char* FindStringEnd(const char* at, const char* end) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  constexpr uint64_t kHigh = 0x8080808080808080u;
  for (; end - at >= 8; at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    const uint64_t quote = word ^ (kOnes * '"');
    const uint64_t slash = word ^ (kOnes * '\\');
    const uint64_t found = ((quote - kOnes) & ~quote) | ((slash - kOnes) & ~slash);
    if ((found & kHigh) != 0) break;
  }
  while (at != end && *at != '"' && *at != '\\') ++at;
  return at;
}

}  // namespace

void JsonStream::Feed(std::string_view bytes) {
  if (keep_ == buffer_.size() && buffer_.capacity() > kKeptCapacity) {
    buffer_ = std::string();
  } else {
    buffer_.erase(0, keep_);
  }
  at_ -= keep_;
  text_begin_ = text_end_ = keep_ = 0;
  buffer_.append(bytes);
}

bool JsonStream::ScanString() {
  const char* const begin = buffer_.data();
  const char* const end = begin + buffer_.size();
  while (at_ < buffer_.size()) {
    if (escaped_) {
      escaped_ = false;
      ++at_;
      continue;
    }
    at_ = static_cast<size_t>(FindStringEnd(begin + at_, end) - begin);
    if (at_ == buffer_.size()) break;
    if (buffer_[at_++] == '"') {
      in_string_ = false;
      return true;
    }
    escaped_ = true;
  }
  return false;
}

bool JsonStream::ScanValue() {
  while (at_ < buffer_.size()) {
    if (in_string_) {
      if (!ScanString()) return false;
      if (depth_ == 0) return true;
      continue;
    }
    const char c = buffer_[at_];
    if (scalar_) {
      // Numbers and literals end at the next delimiter.
      if (c == ',' || c == '}' || c == ']' || IsSpace(c)) return true;
      ++at_;
      continue;
    }
    ++at_;
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      if (--depth_ == 0) return true;
    }
  }
  return false;
}

void JsonStream::BeginValue(State state) {
  const char c = buffer_[at_];
  scalar_ = c != '{' && c != '[' && c != '"';
  depth_ = 0;
  in_string_ = escaped_ = false;
  keep_ = at_;
  state_ = state;
}

Part JsonStream::Emit(State next, Part part) {
  text_begin_ = keep_;
  text_end_ = keep_ = at_;
  state_ = next;
  return part;
}

Part JsonStream::Expect(bool as_expected, State next) {
  state_ = as_expected ? next : State::kBroken;
  keep_ = ++at_;
  return Part::kMore;
}

Part JsonStream::Step(char c) {
  switch (state_) {
    case State::kOutside:
      return Expect(c == '{', State::kFirstKey);
    case State::kFirstKey:
      if (c == '}') {
        Expect(true, State::kOutside);
        return Part::kEnd;
      }
      [[fallthrough]];
    case State::kNextKey:
      Expect(c == '"', State::kKey);
      in_string_ = true;
      escaped_ = false;
      return Part::kMore;
    case State::kColon:
      return Expect(c == ':', State::kValueStart);
    case State::kValueStart:
      if (c == '[' && !array_.empty() && key_ == array_) return Expect(true, State::kFirstItem);
      if (c == ',' || c == '}' || c == ']') return Expect(false, State::kBroken);
      BeginValue(State::kValue);
      return Part::kMore;
    case State::kAfterValue:
      if (c == '}') {
        Expect(true, State::kOutside);
        return Part::kEnd;
      }
      return Expect(c == ',', State::kNextKey);
    case State::kFirstItem:
      if (c == ']') return Expect(true, State::kAfterValue);
      [[fallthrough]];
    case State::kNextItem:
      if (c == ',' || c == '}' || c == ']') return Expect(false, State::kBroken);
      BeginValue(State::kItem);
      return Part::kMore;
    case State::kAfterItem:
      if (c == ']') return Expect(true, State::kAfterValue);
      return Expect(c == ',', State::kNextItem);
    case State::kKey:
    case State::kValue:
    case State::kItem:
    case State::kBroken:
      break;
  }
  return Part::kBroken;
}

Part JsonStream::Next() {
  while (state_ != State::kBroken) {
    if (state_ == State::kKey) {
      if (!ScanString()) break;
      key_.assign(buffer_, keep_, at_ - 1 - keep_);
      keep_ = at_;
      state_ = State::kColon;
    } else if (state_ == State::kValue) {
      if (!ScanValue()) break;
      return Emit(State::kAfterValue, Part::kMember);
    } else if (state_ == State::kItem) {
      if (!ScanValue()) break;
      return Emit(State::kAfterItem, Part::kItem);
    }
    while (at_ < buffer_.size() && IsSpace(buffer_[at_])) keep_ = ++at_;
    if (at_ == buffer_.size()) break;
    const Part part = Step(buffer_[at_]);
    if (part != Part::kMore) return part;
  }
  if (buffer_.size() - keep_ > limit_) state_ = State::kBroken;
  return state_ == State::kBroken ? Part::kBroken : Part::kMore;
}

}  // namespace cox::sdk
