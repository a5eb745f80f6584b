// SPDX-License-Identifier: Apache-2.0
#include "object/codec/yaml/text_style.h"

#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "object/codec/yaml/resolve.h"

namespace cox::yaml {
namespace {

// The properties of a text that determine which styles preserve it.
struct Analysis {
  bool indicators = false;  // would be parsed as structure
  bool breaks = false;
  bool special = false;  // needs escapes
  bool outer_space = false;
  bool outer_break = false;
  bool trailing_space = false;
  bool break_space = false;  // a line begins with a space
  bool space_break = false;  // a line ends with a space
};

// Characters outside of the basic multilingual plane are escaped too.
bool IsPrintable(std::string_view rune) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(rune[i]); };
  switch (rune.size()) {
    case 1:
      return rune[0] == '\n' || (byte(0) >= 0x20 && byte(0) <= 0x7E);
    case 2:
      return byte(0) > 0xC2 || byte(1) >= 0xA0;
    case 3:
      return rune != "\xEF\xBB\xBF" && rune != "\xEF\xBF\xBE" && rune != "\xEF\xBF\xBF";
    default:
      return false;
  }
}

bool IsBlankOrEnd(std::string_view text, size_t i) {
  return i >= text.size() || text[i] == ' ' || text[i] == '\t' || text[i] == '\0' ||
         IsBreak(RuneAt(text, i));
}

// Whether the character at `i` would be an indicator in a block.
bool IsIndicator(std::string_view text, size_t i) {
  char c = text[i];
  if (c == ':') return IsBlankOrEnd(text, i + 1);
  if (i > 0) return c == '#' && IsBlankOrEnd(text, i - 1);
  if (c == '?' || c == '-') return IsBlankOrEnd(text, 1);
  return std::string_view("#,[]{}&*!|>'\"%@`").find(c) != std::string_view::npos;
}

Analysis Analyse(std::string_view text) {
  Analysis a;
  a.indicators = text.starts_with("---") || text.starts_with("...");
  bool after_space = false;
  bool after_break = false;
  bool after_blank = true;
  for (size_t i = 0; i < text.size();) {
    std::string_view rune = RuneAt(text, i);
    bool last = i + rune.size() == text.size();
    bool space = rune == " ";
    bool line_break = !space && IsBreak(rune);
    if (rune[0] == '#' ? i == 0 || after_blank : IsIndicator(text, i)) a.indicators = true;
    a.special = a.special || !IsPrintable(rune);
    a.breaks = a.breaks || line_break;
    a.outer_space = a.outer_space || (space && (i == 0 || last));
    a.outer_break = a.outer_break || (line_break && (i == 0 || last));
    a.trailing_space = a.trailing_space || (space && last);
    a.break_space = a.break_space || (space && after_break);
    a.space_break = a.space_break || (line_break && after_space);
    after_space = space;
    after_break = line_break;
    after_blank = space || line_break || rune == "\t";
    i += rune.size();
  }
  return a;
}

}  // namespace

TextStyle ChooseStyle(std::string_view text, bool simple_key) {
  Scalar read = Resolve(text);
  // As a key, "<<" must be quoted, otherwise it merges; goyaml does not quote it.
  bool plain = (read.kind == Scalar::Kind::kString && !IsBase60(text)) ||
               (read.kind == Scalar::Kind::kMerge && !simple_key);
  Analysis a = Analyse(text);
  bool unquotable = a.space_break || a.special;
  if (text.find('\n') != text.npos) {
    return simple_key || unquotable || a.trailing_space ? TextStyle::kDoubleQuoted
                                                        : TextStyle::kLiteral;
  }
  if (!plain) return TextStyle::kDoubleQuoted;
  if (simple_key && a.breaks) return TextStyle::kDoubleQuoted;
  if (!a.indicators && !a.breaks && !a.outer_space && !a.break_space && !unquotable) {
    return TextStyle::kPlain;
  }
  return a.break_space || unquotable ? TextStyle::kDoubleQuoted : TextStyle::kSingleQuoted;
}

std::string BlockHeader(std::string_view text) {
  std::string header;
  if (text.starts_with(' ') || IsBreak(RuneAt(text, 0))) header = "2";
  size_t last = text.size() - 1;
  while (last > 0 && (text[last] & 0xC0) == 0x80) --last;
  if (!IsBreak(RuneAt(text, last))) return header + "-";
  size_t previous = last == 0 ? 0 : last - 1;
  while (previous > 0 && (text[previous] & 0xC0) == 0x80) --previous;
  if (last == 0 || IsBreak(RuneAt(text, previous))) header += "+";
  return header;
}

std::string_view RuneAt(std::string_view text, size_t i) {
  auto lead = static_cast<unsigned char>(text[i]);
  return text.substr(i, lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4);
}

bool IsBreak(std::string_view rune) {
  return rune == "\n" || rune == "\r" || rune == "\xC2\x85" || rune == "\xE2\x80\xA8" ||
         rune == "\xE2\x80\xA9";
}

bool HasBreak(std::string_view text) {
  for (size_t i = 0; i < text.size(); i += RuneAt(text, i).size()) {
    if (IsBreak(RuneAt(text, i))) return true;
  }
  return false;
}

bool NeedsEscape(std::string_view rune) {
  return !IsPrintable(rune) || IsBreak(rune) || rune == "\"" || rune == "\\";
}

std::string Escape(std::string_view rune) {
  char32_t value = DecodeRune(rune).value;
  switch (value) {
    case 0x00:
      return "\\0";
    case 0x07:
      return "\\a";
    case 0x08:
      return "\\b";
    case 0x09:
      return "\\t";
    case 0x0A:
      return "\\n";
    case 0x0B:
      return "\\v";
    case 0x0C:
      return "\\f";
    case 0x0D:
      return "\\r";
    case 0x1B:
      return "\\e";
    case 0x22:
      return "\\\"";
    case 0x5C:
      return "\\\\";
    case 0x85:
      return "\\N";
    case 0x2028:
      return "\\L";
    case 0x2029:
      return "\\P";
    default:
      break;
  }
  char buffer[16];
  const char* format = value <= 0xFF ? "\\x%02X" : value <= 0xFFFF ? "\\u%04X" : "\\U%08X";
  std::snprintf(buffer, sizeof buffer, format, static_cast<unsigned>(value));
  return buffer;
}

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    Rune rune = DecodeRune(text.substr(i));
    if (!rune.valid) return false;
    i += rune.size;
  }
  return true;
}

std::string RepairUtf8(std::string_view text) {
  std::string out;
  for (; !text.empty();) {
    Rune rune = DecodeRune(text);
    if (rune.valid) {
      out += text.substr(0, rune.size);
    } else {
      AppendUtf8(out, Rune::kError);
    }
    text.remove_prefix(rune.size);
  }
  return out;
}

}  // namespace cox::yaml
