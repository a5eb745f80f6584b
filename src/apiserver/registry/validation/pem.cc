// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/validation/pem.h"

#include "base/strings.h"
#include "object/codec/json/text.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";

// Returns the first line without trailing white space; advances `text` past it.
std::string_view TakeLine(std::string_view& text) {
  CutResult cut = Cut(text, '\n');
  text = cut.found ? cut.after : std::string_view();
  std::string_view line = cut.before;
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
    line.remove_suffix(1);
  }
  return line;
}

// Advances `text` past the next mark at the beginning of a line.
bool SkipTo(std::string_view& text, std::string_view mark) {
  for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    text.remove_prefix(at + mark.size());
    return true;
  }
  return false;
}

bool ReadBody(std::string_view text, std::string* bytes) {
  std::string packed;
  packed.reserve(text.size());
  for (char c : text) {
    if (c != ' ' && c != '\t') packed.push_back(c);
  }
  size_t bad_at = 0;
  return json::ReadBase64(packed, bytes, &bad_at);
}

// Reads the block whose BEGIN mark directly precedes `text`; advances `text` past it. On failure
// `text` is advanced past the part that was read.
std::optional<PemBlock> ReadBlock(std::string_view& text) {
  std::string_view line = TakeLine(text);
  if (!line.ends_with(kDashes)) return std::nullopt;
  line.remove_suffix(kDashes.size());
  PemBlock block{.type = std::string(line)};

  for (std::string_view rest = text; TakeLine(rest).find(':') != std::string_view::npos;) {
    block.has_headers = true;
    text = rest;
  }
  std::string_view after = text;
  if (!SkipTo(after, kEnd)) return std::nullopt;
  std::string_view body = text.substr(0, text.size() - after.size() - kEnd.size());
  text = after;
  std::string_view trailer = TakeLine(text);
  if (trailer != block.type + std::string(kDashes)) return std::nullopt;
  if (!ReadBody(body, &block.bytes)) return std::nullopt;
  return block;
}

}  // namespace

std::optional<PemBlock> NextPemBlock(std::string_view& rest) {
  std::string_view text = rest;
  while (SkipTo(text, kBegin)) {
    if (std::optional<PemBlock> block = ReadBlock(text)) {
      rest = text;
      return block;
    }
  }
  return std::nullopt;
}

}  // namespace cox::apiserver
