// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cox {

// String helpers that the standard library lacks. Pure functions; all accept any bytes, including
// invalid UTF-8.

// Quotes like Go's %q and strconv.Quote: in double quotes, with \a \b \f \n \r \t \v \" \\, other
// ASCII controls and bytes that are not UTF-8 as \xNN, unprintable runes as \uNNNN or \UNNNNNNNN.
// Field errors and log lines use it, so that hostile input can neither forge a line nor hide in
// one.
std::string Quote(std::string_view text);
void AppendQuoted(std::string& out, std::string_view text);

// One code point of UTF-8 text.
struct Rune {
  static constexpr char32_t kError = 0xFFFD;  // replaces invalid bytes

  char32_t value = kError;
  size_t size = 1;     // bytes read; 1 for an invalid byte
  bool valid = false;  // distinguishes an encoded U+FFFD from an invalid byte
};

// The first rune of `text`. Overlong forms, surrogates and values above U+10FFFF are invalid.
// REQUIRES: !text.empty()
Rune DecodeRune(std::string_view text);

void AppendUtf8(std::string& out, char32_t rune);

// Whether the rune is visible: letters, marks, numbers, punctuation, symbols and the ASCII space.
// Code points that are unassigned in Unicode count as printable, except in planes 4 to 13.
bool IsPrintable(char32_t rune);

// Formats like Go: "1h30m1.005s", "1.5µs", "0s", "-1s".
std::string FormatDuration(std::chrono::nanoseconds duration);

// The shortest text that parses to the same double: 0.1, 100000000, 1e+21, 1e-7, NaN, +Inf, -Inf.
std::string FormatDouble(double value);

std::string_view TrimSpace(std::string_view text);  // ASCII space, \t, \n, \v, \f, \r at both ends

// The text before and after the first `separator`. Without one, `before` is the whole text.
struct CutResult {
  std::string_view before;
  std::string_view after;
  bool found = false;
};
CutResult Cut(std::string_view text, char separator);

// The parts of `text` between separators, as a range that allocates nothing and borrows `text`:
//   for (std::string_view part : Split("a,b,,c", ',')) ...     // "a", "b", "", "c"
// There is always at least one part; the empty text has one empty part.
class Split {
 public:
  Split(std::string_view text, char separator) : text_(text), separator_(separator) {}

  class Iterator {
   public:
    Iterator() = default;
    Iterator(std::string_view rest, char separator)
        : cut_(Cut(rest, separator)), separator_(separator) {}

    std::string_view operator*() const { return cut_.before; }
    Iterator& operator++() {
      *this = cut_.found ? Iterator(cut_.after, separator_) : Iterator();
      return *this;
    }
    bool operator==(const Iterator& other) const {
      return cut_.before.data() == other.cut_.before.data() && separator_ == other.separator_;
    }

   private:
    CutResult cut_;
    char separator_ = '\0';
  };

  Iterator begin() const {
    return {text_.data() == nullptr ? std::string_view("") : text_, separator_};
  }
  Iterator end() const { return {}; }

  // The parts as owned strings.
  std::vector<std::string> ToStrings() const;

 private:
  std::string_view text_;
  char separator_;
};

// Joins the parts with `separator`. `parts` is any range of elements that a string can append.
template <class Range>
std::string Join(const Range& parts, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) out += separator;
    first = false;
    out += part;
  }
  return out;
}

}  // namespace cox
