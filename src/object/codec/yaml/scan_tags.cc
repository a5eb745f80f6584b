// SPDX-License-Identifier: Apache-2.0
// Anchors, tags and directives.
#include <string>
#include <string_view>
#include <utility>

#include "object/codec/yaml/scanner.h"

namespace cox::yaml {
namespace {

constexpr int kMaxVersionDigits = 2;
constexpr const char* kNoVersion = "did not find expected version number";
constexpr const char* kNoBang = "did not find expected '!'";
constexpr const char* kNoSpace = "did not find expected whitespace or line break";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The characters of names.
bool IsWord(char c) {
  return IsDigit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

bool IsUri(char c) {
  return IsWord(c) ||
         (c != '\0' && std::string_view(";/?:@&=+$.,!~*'()[]%").find(c) != std::string_view::npos);
}

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool Scanner::FetchAnchor(Token::Type type) {
  if (!SaveSimpleKey()) return false;
  key_allowed_ = false;
  uint32_t line = r_.mark().line;
  r_.Skip();
  std::string name;
  if (!r_.Ensure(1)) return false;
  while (IsWord(r_.At())) {
    r_.Read(&name);
    if (!r_.Ensure(1)) return false;
  }
  static constexpr std::string_view kMayFollow = "?:,]}%@`";
  if (name.empty() || (!r_.IsBlankOrEnd() && kMayFollow.find(r_.At()) == std::string_view::npos)) {
    return Fail("did not find expected alphabetic or numeric character");
  }
  Append(type, line).value = std::move(name);
  return true;
}

bool Scanner::FetchTag() {
  if (!SaveSimpleKey()) return false;
  key_allowed_ = false;
  uint32_t line = r_.mark().line;
  std::string handle;
  std::string suffix;
  if (!ScanTag(&handle, &suffix)) return false;
  Token& token = Append(Token::Type::kTag, line);
  token.handle_size = static_cast<uint32_t>(handle.size());
  token.value = handle + suffix;
  return true;
}

// !<uri>, !handle!suffix, !suffix or a single "!".
bool Scanner::ScanTag(std::string* handle, std::string* suffix) {
  if (!r_.Ensure(2)) return false;
  if (r_.At(1) == '<') {
    r_.Skip();
    r_.Skip();
    if (!ScanTagUri({}, suffix)) return false;
    if (r_.At() != '>') return Fail("did not find the expected '>'");
    r_.Skip();
  } else {
    if (!ScanTagHandle(false, handle)) return false;
    if (handle->size() >= 2 && handle->back() == '!') {
      if (!ScanTagUri({}, suffix)) return false;
    } else {
      if (!ScanTagUri(*handle, suffix)) return false;
      *handle = "!";
      if (suffix->empty()) std::swap(*handle, *suffix);
    }
  }
  if (!r_.Ensure(1)) return false;
  return r_.IsBlankOrEnd() || Fail(kNoSpace);
}

bool Scanner::ScanTagHandle(bool directive, std::string* out) {
  if (!r_.Ensure(1)) return false;
  if (r_.At() != '!') return Fail(kNoBang);
  r_.Read(out);
  if (!r_.Ensure(1)) return false;
  while (IsWord(r_.At())) {
    r_.Read(out);
    if (!r_.Ensure(1)) return false;
  }
  if (r_.At() == '!') {
    r_.Read(out);
  } else if (directive && *out != "!") {
    return Fail(kNoBang);
  }
  return true;
}

// `head` was scanned as a handle, but belongs to the tag ("!head/rest").
bool Scanner::ScanTagUri(std::string_view head, std::string* out) {
  if (head.size() > 1) *out = head.substr(1);
  bool any = !head.empty();
  if (!r_.Ensure(1)) return false;
  while (IsUri(r_.At())) {
    any = true;
    if (r_.At() == '%') {
      if (!ScanUriEscapes(out)) return false;
    } else {
      r_.Read(out);
    }
    if (!r_.Ensure(1)) return false;
  }
  return any || Fail("did not find expected tag URI");
}

// %C3%A9: the octets of one character.
bool Scanner::ScanUriEscapes(std::string* out) {
  int left = 0;
  bool first = true;
  do {
    if (!r_.Ensure(3)) return false;
    int high = r_.At() == '%' ? HexDigit(r_.At(1)) : -1;
    int low = high < 0 ? -1 : HexDigit(r_.At(2));
    if (low < 0) return Fail("did not find URI escaped octet");
    int octet = high * 16 + low;
    if (first) {
      left = octet < 0x80             ? 1
             : (octet & 0xE0) == 0xC0 ? 2
             : (octet & 0xF0) == 0xE0 ? 3
             : (octet & 0xF8) == 0xF0 ? 4
                                      : 0;
      if (left == 0) return Fail("found an incorrect leading UTF-8 octet");
      first = false;
    } else if ((octet & 0xC0) != 0x80) {
      return Fail("found an incorrect trailing UTF-8 octet");
    }
    out->push_back(static_cast<char>(octet));
    r_.Skip();
    r_.Skip();
    r_.Skip();
  } while (--left > 0);
  return true;
}

bool Scanner::FetchDirective() {
  UnrollIndent(-1);
  if (!RemoveSimpleKey()) return false;
  key_allowed_ = false;
  uint32_t line = r_.mark().line;
  r_.Skip();
  std::string name;
  if (!r_.Ensure(1)) return false;
  while (IsWord(r_.At())) {
    r_.Read(&name);
    if (!r_.Ensure(1)) return false;
  }
  if (name.empty()) return Fail("could not find expected directive name");
  if (!r_.IsBlankOrEnd()) return Fail("found unexpected non-alphabetical character");
  Token token;
  if (name == "YAML") {
    if (!ScanVersion(&token.value)) return false;
    token.type = Token::Type::kVersionDirective;
  } else if (name == "TAG") {
    std::string handle;
    std::string prefix;
    if (!ScanTagDirective(&handle, &prefix)) return false;
    token.type = Token::Type::kTagDirective;
    token.handle_size = static_cast<uint32_t>(handle.size());
    token.value = handle + prefix;
  } else {
    return Fail("found unknown directive name");
  }
  token.line = line;
  queue_.push_back(std::move(token));
  return ScanRestOfLine();
}

bool Scanner::ScanRestOfLine() {
  if (!r_.Ensure(1)) return false;
  while (r_.IsBlank()) {
    r_.Skip();
    if (!r_.Ensure(1)) return false;
  }
  if (r_.At() == '#') {
    while (!r_.IsBreakOrEnd()) {
      r_.Skip();
      if (!r_.Ensure(1)) return false;
    }
  }
  if (!r_.IsBreakOrEnd()) return Fail("did not find expected comment or line break");
  if (!r_.Ensure(2)) return false;
  r_.SkipLine();
  return true;
}

bool Scanner::ScanVersion(std::string* out) {
  if (!r_.Ensure(1)) return false;
  while (r_.IsBlank()) {
    r_.Skip();
    if (!r_.Ensure(1)) return false;
  }
  int major = 0;
  int minor = 0;
  if (!ScanVersionNumber(&major)) return false;
  if (r_.At() != '.') return Fail("did not find expected digit or '.' character");
  r_.Skip();
  if (!ScanVersionNumber(&minor)) return false;
  *out = std::to_string(major) + "." + std::to_string(minor);
  return true;
}

bool Scanner::ScanVersionNumber(int* number) {
  if (!r_.Ensure(1)) return false;
  int digits = 0;
  for (; IsDigit(r_.At()); ++digits) {
    if (digits == kMaxVersionDigits) return Fail("found extremely long version number");
    *number = *number * 10 + (r_.At() - '0');
    r_.Skip();
    if (!r_.Ensure(1)) return false;
  }
  return digits > 0 || Fail(kNoVersion);
}

bool Scanner::ScanTagDirective(std::string* handle, std::string* prefix) {
  auto skip_blanks = [this] {
    if (!r_.Ensure(1)) return false;
    while (r_.IsBlank()) {
      r_.Skip();
      if (!r_.Ensure(1)) return false;
    }
    return true;
  };
  if (!skip_blanks() || !ScanTagHandle(true, handle) || !r_.Ensure(1)) return false;
  if (!r_.IsBlank()) return Fail("did not find expected whitespace");
  if (!skip_blanks() || !ScanTagUri({}, prefix) || !r_.Ensure(1)) return false;
  return r_.IsBlankOrEnd() || Fail(kNoSpace);
}

}  // namespace cox::yaml
