// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace cox::json {

// What the next value is, by its first character.
enum class Token : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject, kError };

// A JSON number as it stands in the text.
struct Number {
  std::string_view text;
  bool integer = false;  // no fraction, no exponent, and it fits int64: then `value` is it
  int64_t value = 0;
};

// A cursor over JSON text that reads one value after another; the lexer of all JSON decoders.
//
// Guarantees: accepts exactly RFC 8259, as Go does (raw control characters refused, invalid UTF-8
// and
//   lone surrogates in strings replaced by U+FFFD). Reads each byte once; allocates nothing itself.
// Errors: the first syntax error stays in status() and every later call fails; calls return false.
// Usage: Peek() tells what comes; then exactly one Take/Begin/Skip of that kind.
class Reader {
 public:
  explicit Reader(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  Token Peek();

  bool TakeNull() { return Literal("null"); }
  bool TakeBool(bool* value);
  bool TakeNumber(Number* number);
  bool TakeString(std::string* value);
  // Passes over a value of any kind; false if it is not valid JSON.
  bool Skip();
  // The same, and gives its text.
  bool TakeRaw(std::string* text);

  // An array: BeginArray(), then before each item NextItem(&more); likewise an object, whose keys
  // NextKey gives. A key stays valid until the next call.
  bool BeginArray() { return Open(); }
  bool NextItem(bool* more) { return Next(']', more); }
  bool BeginObject() { return Open(); }
  bool NextKey(std::string_view* key, bool* more);

  // REQUIRES: the outermost value was read. True if only white space follows.
  bool End();

  const Status& status() const { return status_; }
  bool Fail(std::string message);

 private:
  // Moves past white space.
  void Space();
  bool Open();
  bool Next(char close, bool* more);
  bool Literal(std::string_view word);
  // A string whose opening quote is at at_: a view of the text if it holds no escape and is valid,
  // else of scratch_.
  bool String(std::string_view* value);
  bool StringSlow(const char* start, std::string* value);
  bool Escape(std::string* value);
  bool Hex4(uint32_t* unit);
  bool InvalidAt(const char* at, std::string_view where);

  const char* begin_;
  const char* at_;
  const char* end_;
  int depth_ = 0;
  bool first_ = false;  // the container just opened has given no item yet
  std::string scratch_;
  Status status_;
};

}  // namespace cox::json
