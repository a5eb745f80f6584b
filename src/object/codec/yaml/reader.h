// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cox::yaml {

// A position in the text. Lines and columns count from 0; columns and `index` count characters.
struct Mark {
  uint32_t index = 0;
  uint32_t line = 0;
  int32_t column = 0;
};

// The characters of a YAML stream, with one cursor.
//
// Guarantees: the text made readable by Ensure() is UTF-8 without control characters, so a zero
//   byte means the end. Text is checked in steps of 512 bytes during reading, so that the order in
//   which invalid bytes and syntax errors are reported is the same as in Go.
// Ownership: borrows the text; UTF-16 (detected by its byte order mark) is first converted to
//   UTF-8.
// Errors: after an error, Ensure() always returns false; problem() returns the cause.
class Reader {
 public:
  explicit Reader(std::string_view text);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Makes the next `chars` characters readable; characters after the end are zero.
  bool Ensure(uint32_t chars) { return unread_ >= chars || Fill(chars); }
  const char* problem() const { return problem_; }
  std::string_view text() const { return text_; }
  size_t offset() const { return pos_; }
  const Mark& mark() const { return mark_; }

  // The byte at the cursor, or `offset` bytes after it.
  char At(size_t offset = 0) const {
    return pos_ + offset < text_.size() ? text_[pos_ + offset] : '\0';
  }
  bool IsEnd(size_t offset = 0) const { return At(offset) == '\0'; }
  bool IsBlank(size_t offset = 0) const { return At(offset) == ' ' || At(offset) == '\t'; }
  // CR, LF, NEL, LS, PS.
  bool IsBreak(size_t offset = 0) const {
    char c = At(offset);
    // Fast path: most characters are neither controls nor the first byte of NEL, LS or PS.
    if (c > '\r') return false;
    return c == '\n' || c == '\r' || IsWideBreak(offset);
  }
  bool IsBreakOrEnd(size_t offset = 0) const { return IsEnd(offset) || IsBreak(offset); }
  bool IsBlankOrEnd(size_t offset = 0) const { return IsBlank(offset) || IsBreakOrEnd(offset); }
  // "---" or "..." at the start of a line, followed by white space.
  bool IsDocumentIndicator() const;

  void Skip();      // one character
  void SkipLine();  // one line break, if there is one
  void Read(std::string* out);
  // Appends all following characters of this set, as far as they are readable.
  using AsciiSet = std::array<bool, 256>;
  void ReadRun(const AsciiSet& set, std::string* out);
  // Appends the normalized line break: "\n", or LS and PS unchanged.
  void ReadLine(std::string* out);
  // At the end of the stream: acts as if the last line had ended.
  void ForceNewLine();

 private:
  bool Fill(uint32_t chars);
  bool IsWideBreak(size_t offset) const;
  bool Fail(const char* problem) {
    problem_ = problem;
    return false;
  }
  // Checks the character at checked_; 0 if it continues after `end`, -1 if it is invalid.
  int CheckCharacter(size_t end);
  bool FromUtf16(std::string_view raw, bool big_endian);

  std::string transcoded_;
  std::string_view text_;
  const char* problem_ = nullptr;
  size_t pos_ = 0;
  size_t checked_ = 0;     // number of valid bytes
  size_t first_step_ = 0;  // size of the byte order mark, which the first step includes
  uint32_t unread_ = 0;    // characters between pos_ and checked_
  Mark mark_;
};

}  // namespace cox::yaml
