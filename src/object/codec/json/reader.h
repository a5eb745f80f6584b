// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace cox::json {

// The kind of the next value, by its first character.
enum class Token : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject, kError };

// A JSON number in its original text.
struct Number {
  std::string_view text;
  bool integer = false;  // no fraction or exponent, and fits int64: see `value`
  int64_t value = 0;
};

// A cursor over JSON text that reads one value after another; the lexer of all JSON decoders.
//
// Guarantees: accepts exactly RFC 8259, like Go (raw control characters are rejected, invalid UTF-8
//   and lone surrogates in strings are replaced by U+FFFD). Reads each byte once; does not
//   allocate.
// Errors: the first syntax error stays in status(); this and every later call return false.
// Usage: Peek() returns the kind of the next value; then call exactly one Take/Begin/Skip for it.
class Reader {
 public:
  explicit Reader(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  Token Peek() {
    Space();
    Token token = at_ != end_ ? kTokens[static_cast<unsigned char>(*at_)] : Token::kError;
    if (token == Token::kError) InvalidAt(at_, "looking for beginning of value");
    return token;
  }

  bool TakeNull() { return Literal("null"); }
  bool TakeBool(bool* value);
  bool TakeNumber(Number* number);
  bool TakeString(std::string* value);
  // Skips a value of any kind; false if it is not valid JSON.
  bool Skip();
  // The same, but returns its text.
  bool TakeRaw(std::string* text);

  // For an array, call BeginArray(), then NextItem(&more) before each item; for an object likewise,
  // where NextKey returns the keys. A key stays valid until the next call.
  bool BeginArray() { return Open(); }
  bool NextItem(bool* more) { return Next(']', more); }
  bool BeginObject() { return Open(); }
  bool NextKey(std::string_view* key, bool* more);

  // REQUIRES: the outermost value was read. True if only white space follows.
  bool End();

  const Status& status() const { return status_; }
  bool Fail(std::string message);

 private:
  // Indexed by first character.
  static constexpr std::array<Token, 256> kTokens = [] {
    std::array<Token, 256> tokens{};
    tokens.fill(Token::kError);
    tokens['"'] = Token::kString;
    tokens['{'] = Token::kObject;
    tokens['['] = Token::kArray;
    tokens['t'] = tokens['f'] = Token::kBool;
    tokens['n'] = Token::kNull;
    tokens['-'] = Token::kNumber;
    for (int c = '0'; c <= '9'; ++c) tokens[static_cast<size_t>(c)] = Token::kNumber;
    return tokens;
  }();

  // Skips white space.
  void Space() {
    while (at_ != end_ && static_cast<unsigned char>(*at_) <= ' ' &&
           (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) {
      ++at_;
    }
  }
  bool Open();
  bool Next(char close, bool* more) {
    Space();
    bool first = std::exchange(first_, false);
    if (at_ != end_ && *at_ == close) {
      ++at_;
      --depth_;
      *more = false;
      return true;
    }
    *more = true;
    if (first) return true;  // the reader of the value reports an error if it is not a value
    if (at_ != end_ && *at_ == ',') {
      ++at_;
      return true;
    }
    return InvalidAt(at_, close == ']' ? "after array element" : "after object key:value pair");
  }
  bool Literal(std::string_view word);
  // Reads a string whose opening quote is at at_: returns a view of the text if it is valid and has
  // no escapes, otherwise of scratch_.
  bool String(std::string_view* value);
  bool StringSlow(const char* start, std::string* value);
  bool Escape(std::string* value);
  bool Hex4(uint32_t* unit);
  bool InvalidAt(const char* at, std::string_view where);

  const char* begin_;
  const char* at_;
  const char* end_;
  int depth_ = 0;
  bool first_ = false;  // no item of the current container was read yet
  std::string scratch_;
  Status status_;
};

}  // namespace cox::json
