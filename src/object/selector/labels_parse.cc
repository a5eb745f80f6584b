// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "object/selector/labels.h"
#include "object/validation/names.h"

namespace cox::labels {
namespace {

enum class Token {
  kEnd,
  kIdentifier,
  kComma,
  kOpen,
  kClose,
  kNot,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kGreater,
  kLess
};

struct Lexeme {
  Token token = Token::kEnd;
  std::string_view text;
};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsSymbol(char c) { return std::string_view("=!(),<>").find(c) != std::string_view::npos; }

// Splits the text into lexemes. As in upstream's lexer, which uses a zero byte as end mark, a zero
// byte ends the text if it is at the start of a lexeme, and is skipped after a lexeme.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  Lexeme Next() {
    while (!rest_.empty() && IsSpace(rest_[0])) rest_.remove_prefix(1);
    if (rest_.empty() || rest_[0] == '\0') {
      rest_ = {};
      return {};
    }
    Lexeme lexeme = IsSymbol(rest_[0]) ? Symbol() : Identifier();
    rest_.remove_prefix(lexeme.text.size());
    if (rest_.starts_with('\0')) rest_.remove_prefix(1);
    return lexeme;
  }

 private:
  Lexeme Symbol() const {
    if (rest_.starts_with("==")) return {Token::kDoubleEquals, rest_.substr(0, 2)};
    if (rest_.starts_with("!=")) return {Token::kNotEquals, rest_.substr(0, 2)};
    const std::string_view text = rest_.substr(0, 1);
    switch (text[0]) {
      case '=':
        return {Token::kEquals, text};
      case '!':
        return {Token::kNot, text};
      case '(':
        return {Token::kOpen, text};
      case ')':
        return {Token::kClose, text};
      case ',':
        return {Token::kComma, text};
      case '<':
        return {Token::kLess, text};
      default:
        return {Token::kGreater, text};
    }
  }

  Lexeme Identifier() const {
    size_t n = 0;
    while (n < rest_.size() && !IsSymbol(rest_[n]) && !IsSpace(rest_[n]) && rest_[n] != '\0') ++n;
    return {Token::kIdentifier, rest_.substr(0, n)};
  }

  std::string_view rest_;
};

Status Found(std::string_view text, std::string_view expected) {
  return Status::BadRequest("found '" + std::string(text) + "'" + std::string(expected));
}

// A parser without recursion, because the grammar is flat. `in` and `notin` are keywords only after
// a key.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text), ahead_(lexer_.Next()) {}

  Result<std::vector<Requirement>> Parse() {
    std::vector<Requirement> out;
    if (ahead_.token == Token::kEnd) return out;
    if (!StartsRequirement()) {
      return Found(ahead_.text, ", expected: !, identifier, or 'end of string'");
    }
    for (;;) {
      Result<Requirement> requirement = ParseRequirement();
      if (!requirement.ok()) return requirement.status().WithContext("unable to parse requirement");
      out.push_back(*std::move(requirement));
      const Lexeme next = Take();
      if (next.token == Token::kEnd) return out;
      if (next.token != Token::kComma)
        return Found(next.text, ", expected: ',' or 'end of string'");
      if (!StartsRequirement()) return Found(ahead_.text, ", expected: identifier after ','");
    }
  }

 private:
  Lexeme Take() { return std::exchange(ahead_, lexer_.Next()); }

  bool StartsRequirement() const {
    return ahead_.token == Token::kIdentifier || ahead_.token == Token::kNot;
  }
  bool AtEndOfRequirement() const {
    return ahead_.token == Token::kEnd || ahead_.token == Token::kComma;
  }

  Result<Requirement> ParseRequirement() {
    const bool absent = ahead_.token == Token::kNot;
    if (absent) Take();
    const Lexeme key = Take();
    if (key.token != Token::kIdentifier) return Found(key.text, ", expected: identifier");
    // The key is validated before the operator and without a path, as upstream, because clients see
    // the error text.
    if (validation::Messages messages = validation::IsLabelKey(key.text); !messages.empty()) {
      return Status::BadRequest(
          FieldError::Invalid(FieldPath(), key.text, Join(messages, "; ")).ToString());
    }
    if (absent) return Requirement::New(key.text, Operator::kDoesNotExist, {});
    if (AtEndOfRequirement()) return Requirement::New(key.text, Operator::kExists, {});
    COX_ASSIGN_OR_RETURN(Operator op, ParseOperator());
    const bool is_set = op == Operator::kIn || op == Operator::kNotIn;
    COX_ASSIGN_OR_RETURN(auto values, is_set ? ParseValues() : ParseExactValue());
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return Requirement::New(key.text, op, std::move(values));
  }

  Result<Operator> ParseOperator() {
    const Lexeme lexeme = Take();
    switch (lexeme.token) {
      case Token::kEquals:
        return Operator::kEquals;
      case Token::kDoubleEquals:
        return Operator::kDoubleEquals;
      case Token::kNotEquals:
        return Operator::kNotEquals;
      case Token::kGreater:
        return Operator::kGreaterThan;
      case Token::kLess:
        return Operator::kLessThan;
      default:
        if (lexeme.text == "in") return Operator::kIn;
        if (lexeme.text == "notin") return Operator::kNotIn;
        return Found(lexeme.text, ", expected: in, notin, =, ==, !=, gt, lt");
    }
  }

  // "(a,b)"; an empty position between commas or parentheses is the empty value.
  Result<List<std::string>> ParseValues() {
    if (const Lexeme open = Take(); open.token != Token::kOpen) {
      return Found(open.text, " expected: '('");
    }
    if (ahead_.token != Token::kIdentifier && ahead_.token != Token::kComma &&
        ahead_.token != Token::kClose) {
      return Found(ahead_.text, ", expected: ',', ')' or identifier");
    }
    List<std::string> values;
    for (;;) {
      if (ahead_.token == Token::kComma || ahead_.token == Token::kClose) {
        values.emplace_back();
      } else if (ahead_.token == Token::kIdentifier) {
        values.emplace_back(Take().text);
      } else {
        return Found(ahead_.text, ", expected: ',', or identifier");
      }
      const Lexeme next = Take();
      if (next.token == Token::kClose) return values;
      if (next.token != Token::kComma) return Found(next.text, ", expected: ',' or ')'");
    }
  }

  Result<List<std::string>> ParseExactValue() {
    List<std::string> values;
    if (AtEndOfRequirement()) {
      values.emplace_back();
      return values;
    }
    const Lexeme value = Take();
    if (value.token != Token::kIdentifier) return Found(value.text, ", expected: identifier");
    values.emplace_back(value.text);
    return values;
  }

  Lexer lexer_;
  Lexeme ahead_;
};

}  // namespace

Result<Selector> Selector::Parse(std::string_view text) {
  COX_ASSIGN_OR_RETURN(auto requirements, Parser(text).Parse());
  return Selector(std::move(requirements));
}

}  // namespace cox::labels
