// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "object/codec/yaml/key_order.h"
#include "object/codec/yaml/resolve.h"
#include "object/codec/yaml/text_style.h"
#include "object/codec/yaml/yaml.h"

namespace cox::yaml {
namespace {

constexpr int kIndent = 2;
constexpr int kWidth = 80;
constexpr size_t kMaxSimpleKey = 128;  // bytes; a longer key is written as "? key"

// Writes one document. Tracks the column and the preceding characters, to put breaks and spaces in
// the same places as goyaml's emitter.
class Writer {
 public:
  explicit Writer(std::string* out) : out_(*out) {}

  void Document(const Value& value) {
    Node(value, false);
    indent_ = 0;
    StartLine();
  }

 private:
  void Node(const Value& value, bool in_mapping);
  void Sequence(const Value::Array& items, bool in_mapping);
  void Mapping(const Value::Object& members);
  void Text(std::string_view text, bool simple_key);
  void Plain(std::string_view text, bool may_fold);
  void SingleQuoted(std::string_view text, bool may_fold);
  void DoubleQuoted(std::string_view text, bool may_fold);
  void Literal(std::string_view text);

  // Starts a new line at indent_, unless the current line has only indentation and indicators.
  void StartLine() {
    int indent = std::max(indent_, 0);
    if (!indention_ || column_ > indent || (column_ == indent && !whitespace_)) Break();
    while (column_ < indent) Put(" ");
    whitespace_ = indention_ = true;
  }
  void Indicator(std::string_view text, bool needs_space, bool keeps_indention) {
    if (needs_space && !whitespace_) Put(" ");
    Put(text);
    whitespace_ = false;
    indention_ = indention_ && keeps_indention;
  }
  void Put(std::string_view character) {
    out_ += character;
    column_ += static_cast<int>(character.size());
  }
  // Writes one character of any width.
  void PutRune(std::string_view bytes) {
    out_ += bytes;
    ++column_;
  }
  void Break() {
    out_ += '\n';
    column_ = 0;
  }
  // Writes a break that is part of a text.
  void TextBreak(std::string_view bytes) {
    out_ += bytes;
    column_ = 0;
  }
  int Deeper(bool flow) const {
    if (indent_ < 0) return flow ? kIndent : 0;
    return indent_ + kIndent;
  }

  std::string& out_;
  int indent_ = -1;
  int column_ = 0;
  bool whitespace_ = true;  // the last character was white space
  bool indention_ = true;   // only indentation and indicators on this line
};

std::string NumberText(double number) {
  if (std::isnan(number)) return ".nan";
  if (std::isinf(number)) return number > 0 ? ".inf" : "-.inf";
  // A number that JSON would print as an integer is printed as one.
  std::string text = FormatG(number, 64, 21);
  Scalar read = Resolve(text);
  if (read.kind == Scalar::Kind::kInt) return std::to_string(read.integer);
  return read.kind == Scalar::Kind::kUint ? text : FormatG(number);
}

void Writer::Node(const Value& value, bool in_mapping) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return Plain("null", true);
    case Value::Kind::kBool:
      return Plain(value.as_bool() ? "true" : "false", true);
    case Value::Kind::kInt:
      return Plain(std::to_string(value.as_int()), true);
    case Value::Kind::kDouble:
      return Plain(NumberText(value.as_double()), true);
    case Value::Kind::kString:
      return Text(value.as_string(), false);
    case Value::Kind::kArray:
      if (value.as_array().empty()) return Indicator("[]", true, false);
      return Sequence(value.as_array(), in_mapping);
    case Value::Kind::kObject:
      if (value.as_object().empty()) return Indicator("{}", true, false);
      return Mapping(value.as_object());
  }
}

// A list in a mapping has the indentation of the mapping itself.
void Writer::Sequence(const Value::Array& items, bool in_mapping) {
  int outer = indent_;
  if (!in_mapping || indention_) indent_ = Deeper(false);
  for (const Value& item : items) {
    StartLine();
    Indicator("-", true, true);
    Node(item, false);
  }
  indent_ = outer;
}

void Writer::Mapping(const Value::Object& members) {
  std::vector<const ValueObject::Member*> sorted;
  sorted.reserve(members.size());
  for (const ValueObject::Member& member : members) sorted.push_back(&member);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return KeyLess(a->key, b->key); });
  int outer = indent_;
  indent_ = Deeper(false);
  for (const ValueObject::Member* member : sorted) {
    StartLine();
    if (member->key.size() <= kMaxSimpleKey && !HasBreak(member->key)) {
      Text(member->key, true);
      Indicator(":", false, false);
    } else {
      Indicator("?", true, true);
      Text(member->key, false);
      StartLine();
      Indicator(":", true, true);
    }
    Node(member->value, true);
  }
  indent_ = outer;
}

void Writer::Text(std::string_view text, bool simple_key) {
  int outer = indent_;
  indent_ = Deeper(true);
  std::string repaired;
  if (!IsUtf8(text)) text = repaired = RepairUtf8(text);
  switch (ChooseStyle(text, simple_key)) {
    case TextStyle::kPlain:
      Plain(text, !simple_key);
      break;
    case TextStyle::kSingleQuoted:
      SingleQuoted(text, !simple_key);
      break;
    case TextStyle::kDoubleQuoted:
      DoubleQuoted(text, !simple_key);
      break;
    case TextStyle::kLiteral:
      Literal(text);
      break;
  }
  indent_ = outer;
}

void Writer::Plain(std::string_view text, bool may_fold) {
  if (!whitespace_) Put(" ");
  bool after_space = false;
  for (size_t i = 0; i < text.size();) {
    std::string_view rune = RuneAt(text, i);
    bool space = rune == " ";
    if (space && may_fold && !after_space && column_ > kWidth &&
        !text.substr(i + 1).starts_with(' ')) {
      StartLine();
    } else {
      PutRune(rune);
    }
    after_space = space;
    i += rune.size();
  }
  whitespace_ = indention_ = false;
}

void Writer::SingleQuoted(std::string_view text, bool may_fold) {
  Indicator("'", true, false);
  bool after_space = false;
  bool after_break = false;
  for (size_t i = 0; i < text.size();) {
    std::string_view rune = RuneAt(text, i);
    bool space = rune == " ";
    if (space) {
      if (may_fold && !after_space && column_ > kWidth && i > 0 && i + 1 < text.size() &&
          text[i + 1] != ' ') {
        StartLine();
      } else {
        PutRune(rune);
      }
    } else if (IsBreak(rune)) {
      if (!after_break && rune == "\n") Break();
      TextBreak(rune);
      indention_ = true;
    } else {
      if (after_break) StartLine();
      if (rune == "'") Put("'");
      PutRune(rune);
      indention_ = false;
    }
    after_break = !space && IsBreak(rune);
    after_space = space;
    i += rune.size();
  }
  Indicator("'", false, false);
}

void Writer::DoubleQuoted(std::string_view text, bool may_fold) {
  Indicator("\"", true, false);
  // Like goyaml's emitter, escape all characters if the text begins with a byte order mark.
  bool escape_all = text.starts_with("\xEF\xBB\xBF");
  bool after_space = false;
  for (size_t i = 0; i < text.size();) {
    std::string_view rune = RuneAt(text, i);
    bool space = rune == " ";
    if (escape_all || NeedsEscape(rune)) {
      Put(Escape(rune));
    } else if (space && may_fold && !after_space && column_ > kWidth && i > 0 &&
               i + 1 < text.size()) {
      StartLine();
      if (text[i + 1] == ' ') Put("\\");
    } else {
      PutRune(rune);
    }
    after_space = space && !escape_all;
    i += rune.size();
  }
  Indicator("\"", false, false);
}

void Writer::Literal(std::string_view text) {
  Indicator("|", true, false);
  Put(BlockHeader(text));
  Break();
  whitespace_ = indention_ = true;
  bool after_break = true;
  for (size_t i = 0; i < text.size();) {
    std::string_view rune = RuneAt(text, i);
    if (IsBreak(rune)) {
      TextBreak(rune);
      indention_ = after_break = true;
    } else {
      if (after_break) StartLine();
      PutRune(rune);
      indention_ = after_break = false;
    }
    i += rune.size();
  }
}

}  // namespace

void WriteTo(const Value& value, std::string* out) { Writer(out).Document(value); }

std::string Write(const Value& value) {
  std::string out;
  WriteTo(value, &out);
  return out;
}

}  // namespace cox::yaml
