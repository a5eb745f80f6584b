// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "object/codec/yaml/reader.h"

namespace cox::yaml {

struct Token {
  enum class Type : uint8_t {
    kStreamEnd,
    kVersionDirective,  // value is "1.1"
    kTagDirective,      // value is the handle and its prefix
    kDocumentStart,
    kDocumentEnd,
    kBlockSequenceStart,
    kBlockMappingStart,
    kBlockEnd,
    kFlowSequenceStart,
    kFlowSequenceEnd,
    kFlowMappingStart,
    kFlowMappingEnd,
    kBlockEntry,
    kFlowEntry,
    kKey,
    kValue,
    kAlias,
    kAnchor,
    kTag,  // value is the handle and the rest
    kScalar,
  };
  // Tokens to emit before this one, if it turned out to be the key of a mapping.
  enum Prefix : uint8_t { kNone, kKeyBefore, kMappingAndKeyBefore };

  Type type = Type::kStreamEnd;
  Prefix prefix = kNone;
  bool plain = false;        // kScalar: neither quoted nor a block
  uint32_t line = 0;         // of its start, from 0
  uint32_t handle_size = 0;  // kTag, kTagDirective: the end of the handle in `value`
  std::string value;

  std::string_view handle() const { return std::string_view(value).substr(0, handle_size); }
  std::string_view suffix() const { return std::string_view(value).substr(handle_size); }
};

// Splits YAML 1.1 into tokens: indentation becomes block tokens, "key: value" gets its key token.
//
// A key of a mapping is recognized only at its ':'. Until then the tokens since the possible key
// are queued (a key has at most 1024 characters on one line, which limits the queue); the ':' then
// marks the queued token as a key (Token::prefix) instead of inserting tokens before it.
//
// Guarantees: time and memory are linear in the text: the nesting is at most limits::kMaxDepth.
// Errors: a function that returns false has set problem().
class Scanner {
 public:
  explicit Scanner(std::string_view text) : r_(text) { keys_.emplace_back(); }

  // The next token, without removing it. Null on failure. Valid until Next().
  const Token* Peek();
  // Removes and returns the token of Peek().
  Token Next();

  // The whole text as UTF-8.
  std::string_view text() const { return r_.text(); }
  size_t offset() const { return r_.offset(); }  // of the next character
  // The error with goyaml's text: "line 2: mapping values are not allowed in this context".
  std::string problem() const;

 private:
  // A position where a mapping's key may have started. One per flow level.
  struct SimpleKey {
    bool possible = false;
    bool required = false;  // only a key is valid at this position
    bool awaited = false;   // its token is queued until the ':'
    uint32_t token = 0;     // number of its first token
    Mark mark;
  };

  bool Fail(const char* problem) {
    problem_ = problem;
    return false;
  }

  // scanner.cc: structure.
  bool FetchMore();
  bool FetchNext();
  bool FetchIndicator(bool* found);
  bool SkipToNextToken();
  bool FetchStreamEnd();
  bool FetchDocumentIndicator();
  bool FetchFlowStart(Token::Type type);
  bool FetchFlowEnd(Token::Type type);
  bool FetchFlowEntry();
  bool FetchBlockEntry();
  bool FetchKey();
  bool FetchValue();
  bool SaveSimpleKey();
  bool RemoveSimpleKey();
  bool IsValid(SimpleKey* key, bool* valid);
  SimpleKey* KeyOfToken(uint32_t token);
  uint32_t NextToken() const { return taken_ + static_cast<uint32_t>(queue_.size()); }
  // Opens a block at `column` if it is deeper than the current one; sets `opened`.
  bool RollIndent(int column, bool* opened);
  void UnrollIndent(int column);
  Token& Append(Token::Type type, uint32_t line);
  void AppendIndicator(Token::Type type, int chars);
  Token& TokenAt(uint32_t number) { return queue_[number - taken_]; }

  // scan_tags.cc: anchors, tags, directives.
  bool FetchAnchor(Token::Type type);
  bool FetchTag();
  bool FetchDirective();
  bool ScanTag(std::string* handle, std::string* suffix);
  bool ScanTagHandle(bool directive, std::string* out);
  bool ScanTagUri(std::string_view head, std::string* out);
  bool ScanUriEscapes(std::string* out);
  bool ScanVersion(std::string* out);
  bool ScanVersionNumber(int* number);
  bool ScanTagDirective(std::string* handle, std::string* prefix);
  bool ScanRestOfLine();

  // scan_scalars.cc.
  bool FetchBlockScalar(bool literal);
  bool FetchQuotedScalar(char quote);
  bool FetchPlainScalar();
  bool ScanBlockHeader(int* chomping, int* increment);
  bool ScanBlockBreaks(int* indent, std::string* breaks);
  bool ScanQuotedRun(char quote, std::string* out, bool* escaped_break);
  bool ScanEscape(std::string* out);
  bool EndsPlain() const;

  // White space and breaks inside a scalar, joined if more text follows.
  struct Fold {
    std::string blanks;
    std::string first_break;
    std::string more_breaks;
    bool leading = false;  // at the start of a line

    void JoinTo(std::string* out);
  };
  bool ScanFold(Fold* fold, int plain_indent);

  Reader r_;
  const char* problem_ = nullptr;
  std::deque<Token> queue_;
  uint32_t taken_ = 0;  // number of the token at the head of queue_
  bool ended_ = false;
  bool key_allowed_ = true;
  int indent_ = -1;
  std::vector<int> indents_;
  std::deque<SimpleKey> keys_;  // by flow level
  Token virtual_;               // the token of Peek() for a Prefix
  bool ready_ = false;          // the head of queue_ is final
};

}  // namespace cox::yaml
