// SPDX-License-Identifier: Apache-2.0
// Plain, quoted and block scalars.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "object/codec/yaml/scanner.h"

namespace cox::yaml {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Visible ASCII without `except`, plus the space if `space`: characters for the fast path.
constexpr Reader::AsciiSet Ascii(std::string_view except, bool space) {
  Reader::AsciiSet set{};
  for (unsigned char c = 0x21; c < 0x7F; ++c) set[c] = true;
  set[' '] = space;
  for (char c : except) set[static_cast<unsigned char>(c)] = false;
  return set;
}
constexpr Reader::AsciiSet kPlain = Ascii(":", false);
constexpr Reader::AsciiSet kPlainInFlow = Ascii(":,?[]{}", false);
constexpr Reader::AsciiSet kQuoted = Ascii("'\"\\", false);
constexpr Reader::AsciiSet kLine = Ascii("", true);

// The value of a one-letter escape; empty if it does not exist.
std::string_view SimpleEscape(char c) {
  using std::string_view_literals::operator""sv;
  switch (c) {
    case '0':
      return "\0"sv;
    case 'a':
      return "\a";
    case 'b':
      return "\b";
    case 't':
    case '\t':
      return "\t";
    case 'n':
      return "\n";
    case 'v':
      return "\v";
    case 'f':
      return "\f";
    case 'r':
      return "\r";
    case 'e':
      return "\x1B";
    case ' ':
      return " ";
    case '"':
      return "\"";
    case '\'':
      return "'";
    case '\\':
      return "\\";
    case 'N':
      return "\xC2\x85";
    case '_':
      return "\xC2\xA0";
    case 'L':
      return "\xE2\x80\xA8";
    case 'P':
      return "\xE2\x80\xA9";
    default:
      return {};
  }
}

}  // namespace

// A single break becomes a space, of several breaks the first is dropped; blanks within a line
// stay.
void Scanner::Fold::JoinTo(std::string* out) {
  if (!leading) {
    out->append(blanks);
  } else if (first_break.starts_with('\n')) {
    out->append(more_breaks.empty() ? " " : more_breaks);
  } else {
    out->append(first_break);
    out->append(more_breaks);
  }
  blanks.clear();
  first_break.clear();
  more_breaks.clear();
  leading = false;
}

// `plain_indent` is the required indentation of a plain scalar's lines, -1 inside quotes.
bool Scanner::ScanFold(Fold* fold, int plain_indent) {
  if (!r_.Ensure(1)) return false;
  for (;;) {
    if (r_.IsBlank()) {
      if (fold->leading && r_.mark().column < plain_indent && r_.At() == '\t') {
        return Fail("found a tab character that violates indentation");
      }
      if (fold->leading) {
        r_.Skip();
      } else {
        r_.Read(&fold->blanks);
      }
    } else if (r_.IsBreak()) {
      if (!r_.Ensure(2)) return false;
      r_.ReadLine(fold->leading ? &fold->more_breaks : &fold->first_break);
      fold->blanks.clear();
      fold->leading = true;
    } else {
      return true;
    }
    if (!r_.Ensure(1)) return false;
  }
}

bool Scanner::FetchPlainScalar() {
  if (!SaveSimpleKey()) return false;
  key_allowed_ = false;
  uint32_t line = r_.mark().line;
  int indent = indent_ + 1;
  bool in_flow = keys_.size() > 1;
  std::string text;
  Fold fold;
  for (;;) {
    if (!r_.Ensure(4)) return false;
    if (r_.IsDocumentIndicator() || r_.At() == '#') break;
    while (!r_.IsBlankOrEnd() && !EndsPlain()) {
      if (fold.leading || !fold.blanks.empty()) fold.JoinTo(&text);
      r_.Read(&text);
      r_.ReadRun(in_flow ? kPlainInFlow : kPlain, &text);
      if (!r_.Ensure(2)) return false;
    }
    if (!r_.IsBlank() && !r_.IsBreak()) break;
    if (!ScanFold(&fold, indent)) return false;
    if (!in_flow && r_.mark().column < indent) break;
  }
  if (fold.leading) key_allowed_ = true;
  Token& token = Append(Token::Type::kScalar, line);
  token.plain = true;
  token.value = std::move(text);
  return true;
}

bool Scanner::EndsPlain() const {
  char c = r_.At();
  if (c == ':') return r_.IsBlankOrEnd(1);
  if (keys_.size() == 1) return false;
  return c == ',' || c == '?' || c == '[' || c == ']' || c == '{' || c == '}';
}

bool Scanner::FetchQuotedScalar(char quote) {
  if (!SaveSimpleKey()) return false;
  key_allowed_ = false;
  uint32_t line = r_.mark().line;
  r_.Skip();
  std::string text;
  Fold fold;
  for (;;) {
    if (!r_.Ensure(4)) return false;
    if (r_.IsDocumentIndicator()) return Fail("found unexpected document indicator");
    if (r_.IsEnd()) return Fail("found unexpected end of stream");
    bool escaped_break = false;
    if (!ScanQuotedRun(quote, &text, &escaped_break)) return false;
    if (!r_.Ensure(1)) return false;
    if (r_.At() == quote) break;
    // After an escaped break, the indentation of the next line is dropped, and the break is not
    // replaced.
    fold.leading = escaped_break;
    if (!ScanFold(&fold, -1)) return false;
    fold.JoinTo(&text);
  }
  r_.Skip();
  Append(Token::Type::kScalar, line).value = std::move(text);
  return true;
}

bool Scanner::ScanQuotedRun(char quote, std::string* out, bool* escaped_break) {
  while (!r_.IsBlankOrEnd()) {
    char c = r_.At();
    if (quote == '\'' && c == '\'') {
      if (r_.At(1) != '\'') return true;
      out->push_back('\'');
      r_.Skip();
      r_.Skip();
    } else if (c == quote) {
      return true;
    } else if (quote == '"' && c == '\\' && r_.IsBreak(1)) {
      if (!r_.Ensure(3)) return false;
      r_.Skip();
      r_.SkipLine();
      *escaped_break = true;
      return true;
    } else if (quote == '"' && c == '\\') {
      if (!ScanEscape(out)) return false;
    } else {
      r_.Read(out);
      r_.ReadRun(kQuoted, out);
    }
    if (!r_.Ensure(2)) return false;
  }
  return true;
}

bool Scanner::ScanEscape(std::string* out) {
  char c = r_.At(1);
  int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (digits == 0) {
    std::string_view text = SimpleEscape(c);
    if (text.empty()) return Fail("found unknown escape character");
    out->append(text);
    r_.Skip();
    r_.Skip();
    return true;
  }
  r_.Skip();
  r_.Skip();
  if (!r_.Ensure(digits)) return false;
  uint32_t value = 0;
  for (int i = 0; i < digits; ++i) {
    int digit = HexDigit(r_.At(i));
    if (digit < 0) return Fail("did not find expected hexdecimal number");
    value = value << 4 | static_cast<uint32_t>(digit);
  }
  if ((value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF) {
    return Fail("found invalid Unicode character escape code");
  }
  AppendUtf8(*out, value);
  for (int i = 0; i < digits; ++i) r_.Skip();
  return true;
}

bool Scanner::FetchBlockScalar(bool literal) {
  if (!RemoveSimpleKey()) return false;
  key_allowed_ = true;
  uint32_t line = r_.mark().line;
  r_.Skip();
  int chomping = 0;  // -1: drop the last break, +1: keep all trailing breaks
  int increment = 0;
  if (!ScanBlockHeader(&chomping, &increment) || !ScanRestOfLine()) return false;
  int indent = increment == 0 ? 0 : std::max(indent_, 0) + increment;
  std::string text;
  std::string line_break;
  std::string more_breaks;
  bool last_blank = false;
  if (!ScanBlockBreaks(&indent, &more_breaks)) return false;
  if (!r_.Ensure(1)) return false;
  while (r_.mark().column == indent && !r_.IsEnd()) {
    // Folding: a single break between lines that do not begin with blanks becomes a space.
    bool blank = r_.IsBlank();
    if (!literal && line_break.starts_with('\n') && !last_blank && !blank) {
      if (more_breaks.empty()) text.push_back(' ');
    } else {
      text += line_break;
    }
    line_break.clear();
    text += more_breaks;
    more_breaks.clear();
    last_blank = blank;
    while (!r_.IsBreakOrEnd()) {
      r_.Read(&text);
      r_.ReadRun(kLine, &text);
      if (!r_.Ensure(1)) return false;
    }
    if (!r_.Ensure(2)) return false;
    r_.ReadLine(&line_break);
    if (!ScanBlockBreaks(&indent, &more_breaks)) return false;
  }
  if (chomping != -1) text += line_break;
  if (chomping == 1) text += more_breaks;
  Token& token = Append(Token::Type::kScalar, line);
  token.value = std::move(text);
  return true;
}

// The indicators after
//  or >, in either order.
bool Scanner::ScanBlockHeader(int* chomping, int* increment) {
  bool had_chomping = false;
  bool had_increment = false;
  for (int i = 0; i < 2; ++i) {
    if (!r_.Ensure(1)) return false;
    char c = r_.At();
    if ((c == '+' || c == '-') && !had_chomping) {
      *chomping = c == '+' ? 1 : -1;
      had_chomping = true;
    } else if (c >= '0' && c <= '9' && !had_increment) {
      if (c == '0') return Fail("found an indentation indicator equal to 0");
      *increment = c - '0';
      had_increment = true;
    } else {
      break;
    }
    r_.Skip();
  }
  return true;
}

// Scans indentation and empty lines; if *indent is 0, sets it from the first line with text.
bool Scanner::ScanBlockBreaks(int* indent, std::string* breaks) {
  int deepest = 0;
  for (;;) {
    if (!r_.Ensure(1)) return false;
    while ((*indent == 0 || r_.mark().column < *indent) && r_.At() == ' ') {
      r_.Skip();
      if (!r_.Ensure(1)) return false;
    }
    deepest = std::max(deepest, r_.mark().column);
    if ((*indent == 0 || r_.mark().column < *indent) && r_.At() == '\t') {
      return Fail("found a tab character where an indentation space is expected");
    }
    if (!r_.IsBreak()) break;
    if (!r_.Ensure(2)) return false;
    r_.ReadLine(breaks);
  }
  if (*indent == 0) *indent = std::max({deepest, indent_ + 1, 1});
  return true;
}

}  // namespace cox::yaml
