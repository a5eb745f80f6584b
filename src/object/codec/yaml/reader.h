// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cox::yaml {

// A place in the text. Lines and columns count from 0, columns and `index` count characters.
struct Mark {
  uint32_t index = 0;
  uint32_t line = 0;
  int32_t column = 0;
};

// The characters of a YAML stream, with one cursor.
//
// Guarantees: what was made readable with Ensure() is UTF-8 without control characters, so a zero
// byte
//   means the end. Text is checked in steps of 512 bytes as reading proceeds: whether a bad byte
//   or an earlier mistake of grammar is reported first then agrees with what Go clients know.
// Ownership: borrows the text; UTF-16 (told by its byte order mark) is first copied as UTF-8.
// Errors: Ensure() is false once and for all; problem() says why.
class Reader {
 public:
  explicit Reader(std::string_view text);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Makes the next `chars` characters readable; past the end they read as zero.
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
    // Most characters are neither controls nor the lead of NEL, LS or PS.
    if (c > '\r') return false;
    return c == '\n' || c == '\r' || IsWideBreak(offset);
  }
  bool IsBreakOrEnd(size_t offset = 0) const { return IsEnd(offset) || IsBreak(offset); }
  bool IsBlankOrEnd(size_t offset = 0) const { return IsBlank(offset) || IsBreakOrEnd(offset); }
  // "---" or "..." at the start of a line, followed by white space.
  bool IsDocumentIndicator() const;

  void Skip();      // one character
  void SkipLine();  // one line break; nothing if there is none
  void Read(std::string* out);
  // Appends all that follows of these ASCII characters, as far as it is readable.
  using AsciiSet = std::array<bool, 256>;
  void ReadRun(const AsciiSet& set, std::string* out);
  // Appends the break as YAML normalises it: "\n", or LS and PS as they are.
  void ReadLine(std::string* out);
  // At the end of the stream: as if the last line had ended.
  void ForceNewLine();

 private:
  bool Fill(uint32_t chars);
  bool IsWideBreak(size_t offset) const;
  bool Fail(const char* problem) {
    problem_ = problem;
    return false;
  }
  // Checks the character at checked_; 0 when it continues beyond `end`, -1 when it is bad.
  int CheckCharacter(size_t end);
  bool FromUtf16(std::string_view raw, bool big_endian);

  std::string transcoded_;
  std::string_view text_;
  const char* problem_ = nullptr;
  size_t pos_ = 0;
  size_t checked_ = 0;     // bytes known to be good
  size_t first_step_ = 0;  // of the byte order mark, which the first step includes
  uint32_t unread_ = 0;    // characters between pos_ and checked_
  Mark mark_;
};

}  // namespace cox::yaml
