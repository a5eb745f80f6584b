// SPDX-License-Identifier: Apache-2.0
#include "object/codec/yaml/scanner.h"

#include <algorithm>
#include <string>
#include <utility>

#include "object/type/limits.h"

namespace cox::yaml {
namespace {

using Type = Token::Type;

constexpr uint32_t kMaxSimpleKey = 1024;
constexpr Reader::AsciiSet kIndicators = [] {
  Reader::AsciiSet set{};
  for (unsigned char c : std::string_view("-?:,[]{}#&*!|>'\"%@`")) set[c] = true;
  return set;
}();
constexpr const char* kNoColon = "could not find expected ':'";

}  // namespace

std::string Scanner::problem() const {
  if (r_.problem() != nullptr) return r_.problem();  // contains the offset instead of the line
  if (problem_ == nullptr) return {};
  std::string text;
  // The first line is not printed, as in goyaml.
  if (r_.mark().line != 0) text = "line " + std::to_string(r_.mark().line + 1) + ": ";
  return text + problem_;
}

const Token* Scanner::Peek() {
  if (!ready_) {
    if (!FetchMore()) return nullptr;
    ready_ = true;
  }
  const Token& head = queue_.front();
  if (head.prefix == Token::kNone) return &head;
  virtual_.type = head.prefix == Token::kKeyBefore ? Type::kKey : Type::kBlockMappingStart;
  virtual_.line = head.line;
  return &virtual_;
}

Token Scanner::Next() {
  Token& head = queue_.front();
  if (head.prefix != Token::kNone) {
    Token token = virtual_;
    head.prefix = head.prefix == Token::kKeyBefore ? Token::kNone : Token::kKeyBefore;
    return token;
  }
  Token token = std::move(head);
  // The end token stays in the queue, for repeated calls.
  if (token.type == Type::kStreamEnd) return queue_.front();
  queue_.pop_front();
  ++taken_;
  ready_ = false;
  return token;
}

// Scans further while the head of the queue may still be a key.
bool Scanner::FetchMore() {
  for (;;) {
    if (!queue_.empty()) {
      SimpleKey* key = KeyOfToken(taken_);
      if (key == nullptr) return true;
      bool valid = false;
      if (!IsValid(key, &valid)) return false;
      if (!valid) return true;
    }
    if (ended_ && !queue_.empty()) return true;
    if (!FetchNext()) return false;
  }
}

// Keys of deeper levels start at later tokens, so keys_ is sorted.
Scanner::SimpleKey* Scanner::KeyOfToken(uint32_t token) {
  if (keys_.front().token == token && keys_.front().possible && keys_.front().awaited) {
    return &keys_.front();
  }
  if (keys_.back().token < token) return nullptr;
  auto at = std::lower_bound(keys_.begin(), keys_.end(), token,
                             [](const SimpleKey& key, uint32_t n) { return key.token < n; });
  for (; at != keys_.end() && at->token == token; ++at) {
    if (at->possible && at->awaited) return &*at;
  }
  return nullptr;
}

bool Scanner::FetchNext() {
  if (!r_.Ensure(1)) return false;
  if (!SkipToNextToken()) return false;
  UnrollIndent(r_.mark().column);
  if (!r_.Ensure(4)) return false;
  if (r_.IsEnd()) return FetchStreamEnd();
  if (r_.mark().column == 0 && r_.At() == '%') return FetchDirective();
  if (r_.IsDocumentIndicator()) return FetchDocumentIndicator();

  bool found = true;
  if (!FetchIndicator(&found)) return false;
  if (found) return true;

  char c = r_.At();
  bool in_flow = keys_.size() > 1;
  if ((!kIndicators[static_cast<unsigned char>(c)] && !r_.IsBlankOrEnd()) ||
      (c == '-' && !r_.IsBlank(1)) || (!in_flow && (c == '?' || c == ':') && !r_.IsBlankOrEnd(1))) {
    return FetchPlainScalar();
  }
  return Fail("found character that cannot start any token");
}

bool Scanner::FetchIndicator(bool* found) {
  bool in_flow = keys_.size() > 1;
  switch (r_.At()) {
    case '[':
      return FetchFlowStart(Type::kFlowSequenceStart);
    case '{':
      return FetchFlowStart(Type::kFlowMappingStart);
    case ']':
      return FetchFlowEnd(Type::kFlowSequenceEnd);
    case '}':
      return FetchFlowEnd(Type::kFlowMappingEnd);
    case ',':
      return FetchFlowEntry();
    case '-':
      if (r_.IsBlankOrEnd(1)) return FetchBlockEntry();
      break;
    case '?':
      if (in_flow || r_.IsBlankOrEnd(1)) return FetchKey();
      break;
    case ':':
      if (in_flow || r_.IsBlankOrEnd(1)) return FetchValue();
      break;
    case '*':
      return FetchAnchor(Type::kAlias);
    case '&':
      return FetchAnchor(Type::kAnchor);
    case '!':
      return FetchTag();
    case '|':
    case '>':
      if (!in_flow) return FetchBlockScalar(r_.At() == '|');
      break;
    case '\'':
    case '"':
      return FetchQuotedScalar(r_.At());
    default:
      break;
  }
  *found = false;
  return true;
}

bool Scanner::SkipToNextToken() {
  // The second of two byte order marks, which the reader did not skip.
  if (r_.mark().index == 0 && r_.At() == '\xEF' && r_.At(1) == '\xBB' && r_.At(2) == '\xBF')
    r_.Skip();
  for (;;) {
    if (!r_.Ensure(1)) return false;
    // A tab is not indentation: it is permitted only where no key can follow.
    while (r_.At() == ' ' || ((keys_.size() > 1 || !key_allowed_) && r_.At() == '\t')) {
      r_.Skip();
      if (!r_.Ensure(1)) return false;
    }
    if (r_.At() == '#') {
      while (!r_.IsBreakOrEnd()) {
        r_.Skip();
        if (!r_.Ensure(1)) return false;
      }
    }
    if (!r_.IsBreak()) return true;
    if (!r_.Ensure(2)) return false;
    r_.SkipLine();
    if (keys_.size() == 1) key_allowed_ = true;
  }
}

Token& Scanner::Append(Type type, uint32_t line) {
  Token& token = queue_.emplace_back();
  token.type = type;
  token.line = line;
  return token;
}

void Scanner::AppendIndicator(Type type, int chars) {
  Append(type, r_.mark().line);
  for (int i = 0; i < chars; ++i) r_.Skip();
}

bool Scanner::FetchStreamEnd() {
  r_.ForceNewLine();
  UnrollIndent(-1);
  if (!RemoveSimpleKey()) return false;
  key_allowed_ = false;
  ended_ = true;
  Append(Type::kStreamEnd, r_.mark().line);
  return true;
}

bool Scanner::FetchDocumentIndicator() {
  UnrollIndent(-1);
  if (!RemoveSimpleKey()) return false;
  key_allowed_ = false;
  AppendIndicator(r_.At() == '-' ? Type::kDocumentStart : Type::kDocumentEnd, 3);
  return true;
}

bool Scanner::FetchFlowStart(Type type) {
  if (!SaveSimpleKey()) return false;
  keys_.push_back({.token = NextToken()});
  if (keys_.size() - 1 > static_cast<size_t>(limits::kMaxDepth)) {
    return Fail("exceeded max depth of 10000");
  }
  key_allowed_ = true;
  AppendIndicator(type, 1);
  return true;
}

bool Scanner::FetchFlowEnd(Type type) {
  if (!RemoveSimpleKey()) return false;
  if (keys_.size() > 1) {
    // goyaml does not accept "[]" and "{}" as keys: "[]: a" is the list, followed by an error.
    uint32_t token = keys_.back().token;
    keys_.pop_back();
    if (keys_.back().token == token) keys_.back().awaited = false;
  }
  key_allowed_ = false;
  AppendIndicator(type, 1);
  return true;
}

bool Scanner::FetchFlowEntry() {
  if (!RemoveSimpleKey()) return false;
  key_allowed_ = true;
  AppendIndicator(Type::kFlowEntry, 1);
  return true;
}

bool Scanner::FetchBlockEntry() {
  if (keys_.size() == 1) {
    if (!key_allowed_) return Fail("block sequence entries are not allowed in this context");
    bool opened = false;
    if (!RollIndent(r_.mark().column, &opened)) return false;
    if (opened) Append(Type::kBlockSequenceStart, r_.mark().line);
  }
  if (!RemoveSimpleKey()) return false;
  key_allowed_ = true;
  AppendIndicator(Type::kBlockEntry, 1);
  return true;
}

bool Scanner::FetchKey() {
  if (keys_.size() == 1) {
    if (!key_allowed_) return Fail("mapping keys are not allowed in this context");
    bool opened = false;
    if (!RollIndent(r_.mark().column, &opened)) return false;
    if (opened) Append(Type::kBlockMappingStart, r_.mark().line);
  }
  if (!RemoveSimpleKey()) return false;
  key_allowed_ = keys_.size() == 1;
  AppendIndicator(Type::kKey, 1);
  return true;
}

bool Scanner::FetchValue() {
  SimpleKey& key = keys_.back();
  bool valid = false;
  bool opened = false;
  if (!IsValid(&key, &valid)) return false;
  if (valid) {
    if (!RollIndent(key.mark.column, &opened)) return false;
    if (key.token >= taken_) {
      TokenAt(key.token).prefix = opened ? Token::kMappingAndKeyBefore : Token::kKeyBefore;
    } else {
      Append(Type::kKey, key.mark.line);
      if (opened) Append(Type::kBlockMappingStart, key.mark.line);
    }
    key.possible = false;
    key_allowed_ = false;
  } else {
    if (keys_.size() == 1) {
      if (!key_allowed_) return Fail("mapping values are not allowed in this context");
      if (!RollIndent(r_.mark().column, &opened)) return false;
      if (opened) Append(Type::kBlockMappingStart, r_.mark().line);
    }
    key_allowed_ = keys_.size() == 1;
  }
  AppendIndicator(Type::kValue, 1);
  return true;
}

// Records that the next token may be a key.
bool Scanner::SaveSimpleKey() {
  if (!key_allowed_) return true;
  bool required = keys_.size() == 1 && indent_ == r_.mark().column;
  if (!RemoveSimpleKey()) return false;
  keys_.back() = {true, required, true, NextToken(), r_.mark()};
  return true;
}

bool Scanner::RemoveSimpleKey() {
  SimpleKey& key = keys_.back();
  if (key.possible && key.required) return Fail(kNoColon);
  key.possible = false;
  return true;
}

bool Scanner::IsValid(SimpleKey* key, bool* valid) {
  *valid = key->possible;
  if (!key->possible) return true;
  if (key->mark.line < r_.mark().line || key->mark.index + kMaxSimpleKey < r_.mark().index) {
    if (key->required) return Fail(kNoColon);
    key->possible = *valid = false;
  }
  return true;
}

bool Scanner::RollIndent(int column, bool* opened) {
  *opened = false;
  if (keys_.size() > 1 || indent_ >= column) return true;
  indents_.push_back(indent_);
  indent_ = column;
  *opened = true;
  if (indents_.size() > static_cast<size_t>(limits::kMaxDepth)) {
    return Fail("exceeded max depth of 10000");
  }
  return true;
}

void Scanner::UnrollIndent(int column) {
  if (keys_.size() > 1) return;
  while (indent_ > column) {
    Append(Type::kBlockEnd, r_.mark().line);
    indent_ = indents_.back();
    indents_.pop_back();
  }
}

}  // namespace cox::yaml
