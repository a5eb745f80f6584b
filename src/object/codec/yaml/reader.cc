// SPDX-License-Identifier: Apache-2.0
#include "object/codec/yaml/reader.h"

#include <algorithm>
#include <limits>

#include "base/strings.h"

namespace cox::yaml {
namespace {

constexpr size_t kStep = 512;
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

int Width(unsigned char lead) {
  if (lead < 0x80) return 1;
  if ((lead & 0xE0) == 0xC0) return 2;
  if ((lead & 0xF0) == 0xE0) return 3;
  if ((lead & 0xF8) == 0xF0) return 4;
  return 0;
}

bool IsAllowed(char32_t c) {
  if (c < 0x80) return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7F);
  return c == 0x85 || (c >= 0xA0 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD) ||
         (c >= 0x10000 && c <= 0x10FFFF);
}

}  // namespace

Reader::Reader(std::string_view text) : text_(text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    if (!FromUtf16(text.substr(2), text[0] == '\xFE')) return;
    text_ = transcoded_;
  } else if (text.starts_with(kUtf8Mark)) {
    text_.remove_prefix(kUtf8Mark.size());
    first_step_ = kUtf8Mark.size();
  }
}

bool Reader::FromUtf16(std::string_view raw, bool big_endian) {
  auto unit = [&](size_t at) {
    auto a = static_cast<unsigned char>(raw[at]);
    auto b = static_cast<unsigned char>(raw[at + 1]);
    return static_cast<char32_t>(big_endian ? a << 8 | b : b << 8 | a);
  };
  for (size_t i = 0; i < raw.size(); i += 2) {
    if (i + 2 > raw.size()) return Fail("incomplete UTF-16 character");
    char32_t c = unit(i);
    if ((c & 0xFC00) == 0xDC00) return Fail("unexpected low surrogate area");
    if ((c & 0xFC00) == 0xD800) {
      if (i + 4 > raw.size()) return Fail("incomplete UTF-16 surrogate pair");
      char32_t low = unit(i += 2);
      if ((low & 0xFC00) != 0xDC00) return Fail("expected low surrogate area");
      c = 0x10000 + ((c & 0x3FF) << 10) + (low & 0x3FF);
    }
    AppendUtf8(transcoded_, c);
  }
  return true;
}

int Reader::CheckCharacter(size_t end) {
  auto byte = [this](size_t i) { return static_cast<unsigned char>(text_[i]); };
  unsigned char lead = byte(checked_);
  int width = Width(lead);
  if (width == 0) return Fail("invalid leading UTF-8 octet"), -1;
  if (checked_ + width > end) {
    if (end < text_.size()) return 0;
    return Fail("incomplete UTF-8 octet sequence"), -1;
  }
  char32_t value = width == 1 ? lead : lead & (0x7F >> width);
  for (int i = 1; i < width; ++i) {
    if ((byte(checked_ + i) & 0xC0) != 0x80) return Fail("invalid trailing UTF-8 octet"), -1;
    value = value << 6 | (byte(checked_ + i) & 0x3F);
  }
  if ((width == 2 && value < 0x80) || (width == 3 && value < 0x800) ||
      (width == 4 && value < 0x10000)) {
    return Fail("invalid length of a UTF-8 sequence"), -1;
  }
  if ((value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF) {
    return Fail("invalid Unicode character"), -1;
  }
  if (!IsAllowed(value)) return Fail("control characters are not allowed"), -1;
  return width;
}

bool Reader::Fill(uint32_t chars) {
  while (unread_ < chars) {
    if (problem_ != nullptr) return false;
    if (checked_ == text_.size()) {
      unread_ = std::numeric_limits<uint32_t>::max();  // infinitely many zeros
      return true;
    }
    size_t end = std::min(text_.size(), checked_ + kStep - first_step_);
    first_step_ = 0;
    while (checked_ < end) {
      auto c = static_cast<unsigned char>(text_[checked_]);
      int width = c >= 0x20 && c < 0x7F ? 1 : CheckCharacter(end);
      if (width < 0) return false;
      if (width == 0) break;
      checked_ += width;
      ++unread_;
    }
  }
  return true;
}

bool Reader::IsWideBreak(size_t offset) const {
  char c = At(offset);
  if (c == '\xC2') return At(offset + 1) == '\x85';
  return c == '\xE2' && At(offset + 1) == '\x80' &&
         (At(offset + 2) == '\xA8' || At(offset + 2) == '\xA9');
}

bool Reader::IsDocumentIndicator() const {
  if (mark_.column != 0) return false;
  char c = At();
  return (c == '-' || c == '.') && At(1) == c && At(2) == c && IsBlankOrEnd(3);
}

void Reader::Skip() {
  if (pos_ >= text_.size()) return;
  pos_ += Width(static_cast<unsigned char>(text_[pos_]));
  --unread_;
  ++mark_.index;
  ++mark_.column;
}

void Reader::Read(std::string* out) {
  if (pos_ >= text_.size()) return;
  out->append(text_, pos_, Width(static_cast<unsigned char>(text_[pos_])));
  Skip();
}

void Reader::ReadRun(const AsciiSet& set, std::string* out) {
  size_t end = pos_;
  while (end < checked_ && set[static_cast<unsigned char>(text_[end])]) ++end;
  auto size = static_cast<uint32_t>(end - pos_);
  out->append(text_, pos_, size);
  pos_ = end;
  unread_ -= size;
  mark_.index += size;
  mark_.column += static_cast<int32_t>(size);
}

void Reader::SkipLine() {
  if (!IsBreak()) return;
  if (At() == '\r' && At(1) == '\n') Skip();
  Skip();
  mark_.column = 0;
  ++mark_.line;
}

void Reader::ReadLine(std::string* out) {
  if (!IsBreak()) return;
  if (At() == '\xE2') {
    out->append(text_, pos_, 3);
  } else {
    out->push_back('\n');
  }
  SkipLine();
}

void Reader::ForceNewLine() {
  if (mark_.column == 0) return;
  mark_.column = 0;
  ++mark_.line;
}

}  // namespace cox::yaml
