// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "object/codec/yaml/scanner.h"

namespace cox::yaml {

struct Event {
  enum class Type : uint8_t {
    kDocumentStart,
    kDocumentEnd,
    kStreamEnd,
    kAlias,
    kScalar,
    kSequenceStart,
    kSequenceEnd,
    kMappingStart,
    kMappingEnd,
  };

  Type type = Type::kStreamEnd;
  bool plain = false;     // kScalar: neither quoted nor a block
  bool implicit = false;  // kScalar: plain without a tag, or tagged "!"
  uint32_t line = 0;      // of its start, from 0
  std::string anchor;     // also the name of a kAlias
  std::string tag;        // full tag: "tag:yaml.org,2002:str"; "?" if it is too long to be known
  std::string value;

  void Clear() {
    plain = implicit = false;
    anchor.clear();
    tag.clear();
    value.clear();
  }
};

// Parses the tokens of a Scanner into the events of nodes and documents.
//
// Guarantees: a pushdown automaton with its own stack, so the depth does not use the thread's
//   stack.
// Errors: after an error, Next() always returns false; problem() returns goyaml's text: "line 1:
//   did not find expected key" (for syntax errors goyaml counts lines from 0 and omits line 0).
class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text) {}

  std::string_view text() const { return scanner_.text(); }
  size_t offset() const { return scanner_.offset(); }
  bool Next(Event* event);
  const std::string& problem() const { return problem_; }

 private:
  enum class State : uint8_t {
    kImplicitDocumentStart,
    kDocumentStart,
    kDocumentContent,
    kDocumentEnd,
    kBlockNode,
    kBlockSequenceFirst,
    kBlockSequenceEntry,
    kIndentlessSequenceEntry,
    kBlockMappingFirst,
    kBlockMappingKey,
    kBlockMappingValue,
    kFlowSequenceFirst,
    kFlowSequenceEntry,
    kFlowPairKey,  // "[a: b]": a mapping of one pair inside a sequence
    kFlowPairValue,
    kFlowPairEnd,
    kFlowMappingFirst,
    kFlowMappingKey,
    kFlowMappingValue,
    kFlowMappingEmptyValue,
    kEnd,
  };
  using TokenType = Token::Type;

  bool ParseDocumentStart(bool implicit, Event* event);
  bool ParseDocumentContent(Event* event);
  bool ParseDocumentEnd(Event* event);
  bool ParseDirectives();
  bool ParseNode(bool block, bool indentless, Event* event);
  bool ParseProperties(Event* event, bool* any);
  bool ResolveTag(const Token& tag, Event* event);
  bool ParseBlockSequenceEntry(bool first, Event* event);
  bool ParseIndentlessSequenceEntry(Event* event);
  bool ParseBlockMappingKey(bool first, Event* event);
  bool ParseBlockMappingValue(Event* event);
  bool ParseFlowSequenceEntry(bool first, Event* event);
  bool ParseFlowPairKey(Event* event);
  bool ParseFlowPairValue(Event* event);
  bool ParseFlowPairEnd(Event* event);
  bool ParseFlowMappingKey(bool first, Event* event);
  bool ParseFlowMappingValue(bool empty, Event* event);

  // Sets token_ to the next token.
  bool Peek();
  template <class... Types>
  bool Is(Types... types) const {
    return ((token_->type == types) || ...);
  }
  // A missing node is a null on `line`; `next` follows it.
  bool Empty(uint32_t line, State next, Event* event);
  // Parses a node, then continues with `next`.
  bool Node(bool block, bool indentless, State next, Event* event);
  bool Emit(Event::Type type, State next, Event* event);
  State PopState();
  bool Fail(const char* problem);

  Scanner scanner_;
  const Token* token_ = nullptr;
  std::string problem_;
  State state_ = State::kImplicitDocumentStart;
  std::vector<State> states_;
  std::map<std::string, std::string, std::less<>> tags_;  // prefix by handle, for this document
};

}  // namespace cox::yaml
