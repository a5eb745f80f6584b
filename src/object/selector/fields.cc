// SPDX-License-Identifier: Apache-2.0
#include "object/selector/fields.h"

#include <algorithm>

namespace cox::fields {
namespace {

// Splits at commas that are not escaped.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '\\') {
      ++i;  // skip the escaped character
    } else if (i >= text.size() || text[i] == ',') {
      if (begin < i) terms.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  // A trailing \ skips the end of the loop.
  if (begin < text.size()) terms.push_back(text.substr(begin));
  return terms;
}

struct Term {
  std::string_view field, value;
  bool equal;
};

// Splits at the first operator.
std::optional<Term> CutTerm(std::string_view term) {
  for (size_t i = 0; i < term.size(); ++i) {
    const std::string_view rest = term.substr(i);
    if (rest.starts_with("!=")) return Term{term.substr(0, i), rest.substr(2), false};
    if (rest.starts_with("==")) return Term{term.substr(0, i), rest.substr(2), true};
    if (rest.starts_with("=")) return Term{term.substr(0, i), rest.substr(1), true};
  }
  return std::nullopt;
}

}  // namespace

std::string EscapeValue(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (char c : value) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

Result<std::string> UnescapeValue(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == ',' || value[i] == '=') {
      return Status::BadRequest("invalid field selector: unescaped character in value: " +
                                std::to_string(int{value[i]}));
    }
    if (value[i] == '\\') {
      const std::string_view sequence = value.substr(i, 2);
      ++i;
      if (sequence != "\\\\" && sequence != "\\," && sequence != "\\=") {
        return Status::BadRequest("invalid field selector: invalid escape sequence: " +
                                  std::string(sequence));
      }
    }
    out += value[i];
  }
  return out;
}

Selector Selector::Nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Selector Selector::OneTermEqual(std::string_view field, std::string_view value) {
  return Selector({{std::string(field), true, std::string(value)}});
}

Selector Selector::OneTermNotEqual(std::string_view field, std::string_view value) {
  return Selector({{std::string(field), false, std::string(value)}});
}

Result<Selector> Selector::Parse(std::string_view text) {
  std::vector<std::string_view> terms = SplitTerms(text);
  std::sort(terms.begin(), terms.end());
  std::vector<Requirement> requirements;
  requirements.reserve(terms.size());
  for (std::string_view term : terms) {
    const std::optional<Term> cut = CutTerm(term);
    if (!cut) {
      return Status::BadRequest("invalid selector: '" + std::string(text) +
                                "'; can't understand '" + std::string(term) + "'");
    }
    COX_ASSIGN_OR_RETURN(std::string value, UnescapeValue(cut->value));
    requirements.push_back({std::string(cut->field), cut->equal, std::move(value)});
  }
  return Selector(std::move(requirements));
}

bool Selector::Matches(LabelView fields) const {
  return !nothing_ &&
         std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& r) {
           return (fields.Get(r.field).value_or("") == r.value) == r.equal;
         });
}

std::optional<std::string_view> Selector::RequiresExactMatch(std::string_view field) const {
  for (const Requirement& r : requirements_) {
    if (r.equal && r.field == field) return r.value;
  }
  return std::nullopt;
}

std::string Selector::ToString() const {
  std::string out;
  for (const Requirement& r : requirements_) {
    if (!out.empty()) out += ',';
    out.append(r.field).append(r.equal ? "=" : "!=").append(EscapeValue(r.value));
  }
  return out;
}

}  // namespace cox::fields
