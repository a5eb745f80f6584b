// SPDX-License-Identifier: Apache-2.0
#include "object/codec/json/reader.h"

#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/strings.h"
#include "object/type/limits.h"

namespace cox::json {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101u;
constexpr uint64_t kHigh = 0x8080808080808080u;

uint64_t Load8(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

// The high bit of each byte of `word` that ends the plain part of a string: a quote, a backslash, a
// control or non-ASCII character. Bits above the lowest set one may be wrong.
uint64_t SpecialBytes(uint64_t word) {
  uint64_t quote = word ^ (kOnes * '"');
  uint64_t slash = word ^ (kOnes * '\\');
  return ((word - kOnes * 0x20) | (quote - kOnes) | (slash - kOnes) | word) & kHigh;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Formats a character as in Go's syntax errors.
std::string QuoteChar(char c) {
  if (c == '\'') return R"('\'')";
  if (c == '"') return R"('"')";
  std::string rune;
  AppendUtf8(rune, static_cast<unsigned char>(c));
  std::string quoted = Quote(rune);
  return "'" + quoted.substr(1, quoted.size() - 2) + "'";
}

}  // namespace

bool Reader::Fail(std::string message) {
  if (status_.ok()) status_ = Status::BadRequest(std::move(message));
  at_ = end_;
  return false;
}

bool Reader::InvalidAt(const char* at, std::string_view where) {
  if (at >= end_) return Fail("unexpected end of JSON input");
  return Fail("invalid character " + QuoteChar(*at) + " " + std::string(where));
}

bool Reader::Literal(std::string_view word) {
  for (size_t i = 0; i < word.size(); ++i, ++at_) {
    if (at_ != end_ && *at_ == word[i]) continue;
    return InvalidAt(at_,
                     "in literal " + std::string(word) + " (expecting " + QuoteChar(word[i]) + ")");
  }
  return true;
}

bool Reader::TakeBool(bool* value) {
  *value = *at_ == 't';
  return Literal(*value ? "true" : "false");
}

bool Reader::TakeNumber(Number* number) {
  const char* start = at_;
  if (*at_ == '-') ++at_;
  if (at_ == end_ || !IsDigit(*at_)) return InvalidAt(at_, "in numeric literal");
  const char* digits = at_;
  uint64_t magnitude = 0;
  if (*at_ == '0') {
    ++at_;
  } else {
    for (; at_ != end_ && IsDigit(*at_); ++at_)
      magnitude = magnitude * 10 + static_cast<uint64_t>(*at_ - '0');
  }
  auto length = at_ - digits;
  bool integer = true;
  if (at_ != end_ && *at_ == '.') {
    integer = false;
    ++at_;
    if (at_ == end_ || !IsDigit(*at_))
      return InvalidAt(at_, "after decimal point in numeric literal");
    while (at_ != end_ && IsDigit(*at_)) ++at_;
  }
  if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    integer = false;
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    if (at_ == end_ || !IsDigit(*at_)) return InvalidAt(at_, "in exponent of numeric literal");
    while (at_ != end_ && IsDigit(*at_)) ++at_;
  }
  number->text = {start, static_cast<size_t>(at_ - start)};
  number->integer = false;
  if (!integer) return true;
  if (length <= 18) {  // cannot overflow
    number->integer = true;
    number->value =
        *start == '-' ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
    return true;
  }
  number->integer = std::from_chars(start, at_, number->value).ec == std::errc();
  return true;
}

bool Reader::String(std::string_view* value) {
  const char* start = ++at_;
  const char* p = start;
  while (end_ - p >= 8) {
    uint64_t special = SpecialBytes(Load8(p));
    if (special != 0) {
      p += __builtin_ctzll(special) / 8;
      break;
    }
    p += 8;
  }
  while (p != end_ && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20 &&
         static_cast<unsigned char>(*p) < 0x80) {
    ++p;
  }
  at_ = p;
  if (p != end_ && *p == '"') {
    *value = {start, static_cast<size_t>(p - start)};
    ++at_;
    return true;
  }
  if (!StringSlow(start, &scratch_)) return false;
  *value = scratch_;
  return true;
}

bool Reader::StringSlow(const char* start, std::string* value) {
  value->assign(start, static_cast<size_t>(at_ - start));
  while (at_ != end_) {
    auto c = static_cast<unsigned char>(*at_);
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c == '\\') {
      ++at_;
      if (!Escape(value)) return false;
    } else if (c < 0x20) {
      return InvalidAt(at_, "in string literal");
    } else if (c < 0x80) {
      value->push_back(static_cast<char>(c));
      ++at_;
    } else {
      Rune rune = DecodeRune({at_, static_cast<size_t>(end_ - at_)});
      AppendUtf8(*value, rune.value);
      at_ += rune.size;
    }
  }
  return InvalidAt(at_, "");
}

bool Reader::Hex4(uint32_t* unit) {
  *unit = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ == end_) return InvalidAt(at_, "");
    char c = *at_;
    uint32_t digit;
    if (IsDigit(c)) {
      digit = static_cast<uint32_t>(c - '0');
    } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
      digit = static_cast<uint32_t>((c | 0x20) - 'a' + 10);
    } else {
      return InvalidAt(at_, "in \\u hexadecimal character escape");
    }
    *unit = *unit << 4 | digit;
  }
  return true;
}

bool Reader::Escape(std::string* value) {
  if (at_ == end_) return InvalidAt(at_, "");
  static constexpr std::string_view kLetters = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  char c = *at_;
  if (size_t i = kLetters.find(c); i != std::string_view::npos) {
    value->push_back(kMeanings[i]);
    ++at_;
    return true;
  }
  if (c != 'u') return InvalidAt(at_, "in string escape code");
  ++at_;
  uint32_t rune;
  if (!Hex4(&rune)) return false;
  if (rune < 0xd800 || rune > 0xdfff) {
    AppendUtf8(*value, rune);
    return true;
  }
  // A surrogate: only a high one followed by a low one is valid.
  if (rune <= 0xdbff && end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u') {
    const char* after_high = at_;
    at_ += 2;
    uint32_t low;
    if (!Hex4(&low)) return false;
    if (low >= 0xdc00 && low <= 0xdfff) {
      AppendUtf8(*value, 0x10000 + ((rune - 0xd800) << 10) + (low - 0xdc00));
      return true;
    }
    at_ = after_high;
  }
  AppendUtf8(*value, Rune::kError);
  return true;
}

bool Reader::TakeString(std::string* value) {
  std::string_view view;
  if (!String(&view)) return false;
  value->assign(view);
  return true;
}

bool Reader::Open() {
  ++at_;
  first_ = true;
  if (++depth_ > limits::kMaxDepth) return Fail("exceeded max depth");
  return true;
}

bool Reader::NextKey(std::string_view* key, bool* more) {
  if (!Next('}', more)) return false;
  if (!*more) return true;
  Space();
  if (at_ == end_ || *at_ != '"')
    return InvalidAt(at_, "looking for beginning of object key string");
  if (!String(key)) return false;
  if (at_ == end_ || *at_ != ':') {
    Space();
    if (at_ == end_ || *at_ != ':') return InvalidAt(at_, "after object key");
  }
  ++at_;
  return true;
}

bool Reader::Skip() {
  // One bit per open container stores its kind, because recursion would use stack per level.
  std::array<uint64_t, limits::kMaxDepth / 64 + 1> is_object;
  int open = 0;
  do {
    std::string_view text;
    Number number;
    bool flag;
    bool more = true;
    switch (Peek()) {
      case Token::kNull:
        if (!TakeNull()) return false;
        break;
      case Token::kBool:
        if (!TakeBool(&flag)) return false;
        break;
      case Token::kNumber:
        if (!TakeNumber(&number)) return false;
        break;
      case Token::kString:
        if (!String(&text)) return false;
        break;
      case Token::kArray:
      case Token::kObject: {
        uint64_t bit = uint64_t{1} << (open % 64);
        uint64_t& word = is_object[static_cast<size_t>(open / 64)];
        word = *at_ == '{' ? word | bit : word & ~bit;
        if (!Open()) return false;
        ++open;
        break;
      }
      case Token::kError:
        return false;
    }
    // Close finished containers until one has another value.
    while (open > 0) {
      int top = open - 1;
      bool object = (is_object[static_cast<size_t>(top / 64)] >> (top % 64) & 1) != 0;
      if (!(object ? NextKey(&text, &more) : NextItem(&more))) return false;
      if (more) break;
      --open;
    }
  } while (open > 0);
  return true;
}

bool Reader::TakeRaw(std::string* text) {
  Space();
  const char* start = at_;
  if (!Skip()) return false;
  text->assign(start, static_cast<size_t>(at_ - start));
  return true;
}

bool Reader::End() {
  Space();
  return at_ == end_ || InvalidAt(at_, "after top-level value");
}

}  // namespace cox::json
