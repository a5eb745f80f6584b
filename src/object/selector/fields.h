// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "object/selector/label_view.h"

// Field selectors: metadata.name=web,status.phase!=Running
namespace cox::fields {

// One condition on one field.
struct Requirement {
  std::string field;
  bool equal = true;  // = or !=
  std::string value;  // without escapes

  bool operator==(const Requirement&) const = default;
};

// Escapes \ , and = in a value by \, for the selector syntax.
std::string EscapeValue(std::string_view value);
// The reverse. Errors: BadRequest for an unescaped , or = and for an invalid escape sequence.
Result<std::string> UnescapeValue(std::string_view value);

// A conjunction of requirements. The default matches everything.
//
// A field that an object lacks counts as empty: "spec.nodeName=" selects Pods that are not bound.
// Threads: as a plain value; Matches is const and does not allocate.
class Selector {
 public:
  Selector() = default;
  explicit Selector(std::vector<Requirement> requirements)
      : requirements_(std::move(requirements)) {}

  static Selector Everything() { return {}; }
  static Selector Nothing();
  static Selector OneTermEqual(std::string_view field, std::string_view value);
  static Selector OneTermNotEqual(std::string_view field, std::string_view value);

  // Parses terms a=b, a==b, a!=b, separated by commas; empty terms are skipped, and the result is
  // sorted. Field names are not checked; Transform rejects names that a kind does not support.
  // Errors: BadRequest with upstream's texts.
  static Result<Selector> Parse(std::string_view text);

  bool Matches(LabelView fields) const;
  bool Empty() const { return requirements_.empty() && !nothing_; }  // matches everything
  bool SelectsNothing() const { return nothing_; }
  // The value that `field` must have, if the selector requires exactly one.
  std::optional<std::string_view> RequiresExactMatch(std::string_view field) const;

  // Rewrites every requirement with `fn`, a callable
  //   Result<std::pair<std::string, std::string>>(const std::string& field, const std::string&
  //   value)
  // that maps field names of an API version to internal ones or rejects them. A requirement whose
  // new name and value are both empty is dropped.
  template <class Fn>
  Result<Selector> Transform(Fn&& fn) const;

  const std::vector<Requirement>& requirements() const { return requirements_; }

  // Parse accepts the result. Empty for everything and for nothing.
  std::string ToString() const;

  bool operator==(const Selector&) const = default;

 private:
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

template <class Fn>
Result<Selector> Selector::Transform(Fn&& fn) const {
  Selector out;
  out.nothing_ = nothing_;
  for (const Requirement& r : requirements_) {
    COX_ASSIGN_OR_RETURN(auto pair, fn(r.field, r.value));
    if (pair.first.empty() && pair.second.empty()) continue;
    out.requirements_.push_back({std::move(pair.first), r.equal, std::move(pair.second)});
  }
  return out;
}

}  // namespace cox::fields
