// SPDX-License-Identifier: Apache-2.0
#include "object/codec/yaml/parser.h"

#include <utility>

namespace cox::yaml {
namespace {

constexpr std::string_view kCoreTags = "tag:yaml.org,2002:";
constexpr size_t kLongestTag = 64;

}  // namespace

bool Parser::Next(Event* event) {
  event->Clear();
  switch (state_) {
    case State::kImplicitDocumentStart:
      return ParseDocumentStart(true, event);
    case State::kDocumentStart:
      return ParseDocumentStart(false, event);
    case State::kDocumentContent:
      return ParseDocumentContent(event);
    case State::kDocumentEnd:
      return ParseDocumentEnd(event);
    case State::kBlockNode:
      return ParseNode(true, false, event);
    case State::kBlockSequenceFirst:
      return ParseBlockSequenceEntry(true, event);
    case State::kBlockSequenceEntry:
      return ParseBlockSequenceEntry(false, event);
    case State::kIndentlessSequenceEntry:
      return ParseIndentlessSequenceEntry(event);
    case State::kBlockMappingFirst:
      return ParseBlockMappingKey(true, event);
    case State::kBlockMappingKey:
      return ParseBlockMappingKey(false, event);
    case State::kBlockMappingValue:
      return ParseBlockMappingValue(event);
    case State::kFlowSequenceFirst:
      return ParseFlowSequenceEntry(true, event);
    case State::kFlowSequenceEntry:
      return ParseFlowSequenceEntry(false, event);
    case State::kFlowPairKey:
      return ParseFlowPairKey(event);
    case State::kFlowPairValue:
      return ParseFlowPairValue(event);
    case State::kFlowPairEnd:
      return ParseFlowPairEnd(event);
    case State::kFlowMappingFirst:
      return ParseFlowMappingKey(true, event);
    case State::kFlowMappingKey:
      return ParseFlowMappingKey(false, event);
    case State::kFlowMappingValue:
      return ParseFlowMappingValue(false, event);
    case State::kFlowMappingEmptyValue:
      return ParseFlowMappingValue(true, event);
    case State::kEnd:
      break;
  }
  return problem_.empty();
}

bool Parser::Peek() {
  token_ = scanner_.Peek();
  if (token_ != nullptr) return true;
  problem_ = scanner_.problem();
  state_ = State::kEnd;
  return false;
}

bool Parser::Fail(const char* problem) {
  if (token_->line != 0) problem_ = "line " + std::to_string(token_->line) + ": ";
  problem_ += problem;
  state_ = State::kEnd;
  return false;
}

Parser::State Parser::PopState() {
  State state = states_.back();
  states_.pop_back();
  return state;
}

bool Parser::Emit(Event::Type type, State next, Event* event) {
  event->type = type;
  event->line = token_->line;
  state_ = next;
  return true;
}

bool Parser::Empty(uint32_t line, State next, Event* event) {
  event->type = Event::Type::kScalar;
  event->plain = event->implicit = true;
  event->line = line;
  state_ = next;
  return true;
}

bool Parser::Node(bool block, bool indentless, State next, Event* event) {
  states_.push_back(next);
  return ParseNode(block, indentless, event);
}

bool Parser::ParseDocumentStart(bool implicit, Event* event) {
  if (!Peek()) return false;
  while (!implicit && Is(TokenType::kDocumentEnd)) {
    scanner_.Next();
    if (!Peek()) return false;
  }
  tags_.clear();
  if (Is(TokenType::kStreamEnd)) return Emit(Event::Type::kStreamEnd, State::kEnd, event);
  if (implicit &&
      !Is(TokenType::kVersionDirective, TokenType::kTagDirective, TokenType::kDocumentStart)) {
    states_.push_back(State::kDocumentEnd);
    return Emit(Event::Type::kDocumentStart, State::kBlockNode, event);
  }
  if (!ParseDirectives()) return false;
  if (!Is(TokenType::kDocumentStart)) return Fail("did not find expected <document start>");
  states_.push_back(State::kDocumentEnd);
  Emit(Event::Type::kDocumentStart, State::kDocumentContent, event);
  scanner_.Next();
  return true;
}

bool Parser::ParseDirectives() {
  bool version = false;
  for (; Is(TokenType::kVersionDirective, TokenType::kTagDirective);) {
    if (Is(TokenType::kVersionDirective)) {
      if (version) return Fail("found duplicate %YAML directive");
      if (token_->value != "1.1") return Fail("found incompatible YAML document");
      version = true;
    } else {
      if (!tags_.emplace(token_->handle(), token_->suffix()).second) {
        return Fail("found duplicate %TAG directive");
      }
    }
    scanner_.Next();
    if (!Peek()) return false;
  }
  return true;
}

bool Parser::ParseDocumentContent(Event* event) {
  if (!Peek()) return false;
  if (Is(TokenType::kVersionDirective, TokenType::kTagDirective, TokenType::kDocumentStart,
         TokenType::kDocumentEnd, TokenType::kStreamEnd)) {
    return Empty(token_->line, PopState(), event);
  }
  return ParseNode(true, false, event);
}

bool Parser::ParseDocumentEnd(Event* event) {
  if (!Peek()) return false;
  Emit(Event::Type::kDocumentEnd, State::kDocumentStart, event);
  if (Is(TokenType::kDocumentEnd)) scanner_.Next();
  return true;
}

bool Parser::ParseNode(bool block, bool indentless, Event* event) {
  if (!Peek()) return false;
  uint32_t line = token_->line;
  if (Is(TokenType::kAlias)) {
    event->anchor = token_->value;
    Emit(Event::Type::kAlias, PopState(), event);
    scanner_.Next();
    return true;
  }
  bool properties = false;
  if (!ParseProperties(event, &properties)) return false;
  if (indentless && Is(TokenType::kBlockEntry)) {
    Emit(Event::Type::kSequenceStart, State::kIndentlessSequenceEntry, event);
  } else if (Is(TokenType::kScalar)) {
    event->plain = token_->plain;
    event->implicit = (event->plain && event->tag.empty()) || event->tag == "!";
    Emit(Event::Type::kScalar, PopState(), event);
    event->value = scanner_.Next().value;
  } else if (Is(TokenType::kFlowSequenceStart)) {
    Emit(Event::Type::kSequenceStart, State::kFlowSequenceFirst, event);
  } else if (Is(TokenType::kFlowMappingStart)) {
    Emit(Event::Type::kMappingStart, State::kFlowMappingFirst, event);
  } else if (block && Is(TokenType::kBlockSequenceStart)) {
    Emit(Event::Type::kSequenceStart, State::kBlockSequenceFirst, event);
  } else if (block && Is(TokenType::kBlockMappingStart)) {
    Emit(Event::Type::kMappingStart, State::kBlockMappingFirst, event);
  } else if (properties) {
    event->plain = true;
    event->implicit = event->tag.empty();
    Emit(Event::Type::kScalar, PopState(), event);
  } else {
    return Fail("did not find expected node content");
  }
  event->line = line;
  return true;
}

// Parses an anchor and a tag, each at most once, in any order.
bool Parser::ParseProperties(Event* event, bool* any) {
  bool tagged = false;
  Token tag;
  for (;;) {
    if (Is(TokenType::kAnchor) && event->anchor.empty()) {
      event->anchor = scanner_.Next().value;
    } else if (Is(TokenType::kTag) && !tagged) {
      tagged = true;
      tag = scanner_.Next();
    } else {
      break;
    }
    *any = true;
    if (!Peek()) return false;
  }
  return !tagged || ResolveTag(tag, event);
}

bool Parser::ResolveTag(const Token& tag, Event* event) {
  std::string_view prefix;
  if (auto found = tags_.find(tag.handle()); found != tags_.end()) {
    prefix = found->second;
  } else if (tag.handle() == "!") {
    prefix = "!";
  } else if (tag.handle() == "!!") {
    prefix = kCoreTags;
  } else if (tag.handle_size > 0) {
    token_ = &tag;
    return Fail("found undefined tag handle");
  }
  // Many tags with one long prefix must not each cost its length.
  if (prefix.size() + tag.suffix().size() > kLongestTag) {
    event->tag = "?";
  } else {
    event->tag = std::string(prefix).append(tag.suffix());
  }
  return true;
}

bool Parser::ParseBlockSequenceEntry(bool first, Event* event) {
  if (!Peek()) return false;
  if (first) {
    scanner_.Next();
    if (!Peek()) return false;
  }
  if (Is(TokenType::kBlockEntry)) {
    uint32_t line = scanner_.Next().line;
    if (!Peek()) return false;
    if (Is(TokenType::kBlockEntry, TokenType::kBlockEnd)) {
      return Empty(line, State::kBlockSequenceEntry, event);
    }
    return Node(true, false, State::kBlockSequenceEntry, event);
  }
  if (!Is(TokenType::kBlockEnd)) return Fail("did not find expected '-' indicator");
  Emit(Event::Type::kSequenceEnd, PopState(), event);
  scanner_.Next();
  return true;
}

// The items of a mapping's value at the indentation of the mapping itself.
bool Parser::ParseIndentlessSequenceEntry(Event* event) {
  if (!Peek()) return false;
  if (!Is(TokenType::kBlockEntry)) return Emit(Event::Type::kSequenceEnd, PopState(), event);
  uint32_t line = scanner_.Next().line;
  if (!Peek()) return false;
  if (Is(TokenType::kBlockEntry, TokenType::kKey, TokenType::kValue, TokenType::kBlockEnd)) {
    return Empty(line, State::kIndentlessSequenceEntry, event);
  }
  return Node(true, false, State::kIndentlessSequenceEntry, event);
}

bool Parser::ParseBlockMappingKey(bool first, Event* event) {
  if (!Peek()) return false;
  if (first) {
    scanner_.Next();
    if (!Peek()) return false;
  }
  if (Is(TokenType::kKey)) {
    uint32_t line = scanner_.Next().line;
    if (!Peek()) return false;
    if (Is(TokenType::kKey, TokenType::kValue, TokenType::kBlockEnd)) {
      return Empty(line, State::kBlockMappingValue, event);
    }
    return Node(true, true, State::kBlockMappingValue, event);
  }
  if (!Is(TokenType::kBlockEnd)) return Fail("did not find expected key");
  Emit(Event::Type::kMappingEnd, PopState(), event);
  scanner_.Next();
  return true;
}

bool Parser::ParseBlockMappingValue(Event* event) {
  if (!Peek()) return false;
  if (!Is(TokenType::kValue)) return Empty(token_->line, State::kBlockMappingKey, event);
  uint32_t line = scanner_.Next().line;
  if (!Peek()) return false;
  if (Is(TokenType::kKey, TokenType::kValue, TokenType::kBlockEnd)) {
    return Empty(line, State::kBlockMappingKey, event);
  }
  return Node(true, true, State::kBlockMappingKey, event);
}

bool Parser::ParseFlowSequenceEntry(bool first, Event* event) {
  if (!Peek()) return false;
  if (first) {
    scanner_.Next();
    if (!Peek()) return false;
  } else if (Is(TokenType::kFlowEntry)) {
    scanner_.Next();
    if (!Peek()) return false;
  } else if (!Is(TokenType::kFlowSequenceEnd)) {
    return Fail("did not find expected ',' or ']'");
  }
  if (Is(TokenType::kKey)) {
    Emit(Event::Type::kMappingStart, State::kFlowPairKey, event);
    scanner_.Next();
    return true;
  }
  if (!Is(TokenType::kFlowSequenceEnd)) {
    return Node(false, false, State::kFlowSequenceEntry, event);
  }
  Emit(Event::Type::kSequenceEnd, PopState(), event);
  scanner_.Next();
  return true;
}

bool Parser::ParseFlowPairKey(Event* event) {
  if (!Peek()) return false;
  if (!Is(TokenType::kValue, TokenType::kFlowEntry, TokenType::kFlowSequenceEnd)) {
    return Node(false, false, State::kFlowPairValue, event);
  }
  // The token is consumed with the empty key, even a ']', as in goyaml.
  return Empty(scanner_.Next().line, State::kFlowPairValue, event);
}

bool Parser::ParseFlowPairValue(Event* event) {
  if (!Peek()) return false;
  if (Is(TokenType::kValue)) {
    scanner_.Next();
    if (!Peek()) return false;
    if (!Is(TokenType::kFlowEntry, TokenType::kFlowSequenceEnd)) {
      return Node(false, false, State::kFlowPairEnd, event);
    }
  }
  return Empty(token_->line, State::kFlowPairEnd, event);
}

bool Parser::ParseFlowPairEnd(Event* event) {
  if (!Peek()) return false;
  return Emit(Event::Type::kMappingEnd, State::kFlowSequenceEntry, event);
}

bool Parser::ParseFlowMappingKey(bool first, Event* event) {
  if (!Peek()) return false;
  if (first) {
    scanner_.Next();
    if (!Peek()) return false;
  } else if (Is(TokenType::kFlowEntry)) {
    scanner_.Next();
    if (!Peek()) return false;
  } else if (!Is(TokenType::kFlowMappingEnd)) {
    return Fail("did not find expected ',' or '}'");
  }
  if (Is(TokenType::kKey)) {
    scanner_.Next();
    if (!Peek()) return false;
    if (Is(TokenType::kValue, TokenType::kFlowEntry, TokenType::kFlowMappingEnd)) {
      return Empty(token_->line, State::kFlowMappingValue, event);
    }
    return Node(false, false, State::kFlowMappingValue, event);
  }
  if (!Is(TokenType::kFlowMappingEnd)) {
    return Node(false, false, State::kFlowMappingEmptyValue, event);
  }
  Emit(Event::Type::kMappingEnd, PopState(), event);
  scanner_.Next();
  return true;
}

bool Parser::ParseFlowMappingValue(bool empty, Event* event) {
  if (!Peek()) return false;
  if (!empty && Is(TokenType::kValue)) {
    scanner_.Next();
    if (!Peek()) return false;
    if (!Is(TokenType::kFlowEntry, TokenType::kFlowMappingEnd)) {
      return Node(false, false, State::kFlowMappingKey, event);
    }
  }
  return Empty(token_->line, State::kFlowMappingKey, event);
}

}  // namespace cox::yaml
