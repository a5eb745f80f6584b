// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "object/selector/label_view.h"
#include "object/type/list.h"
#include "object/validation/field_error.h"

// Label selectors, as used by queries, Services and controllers.
namespace cox::labels {

enum class Operator : uint8_t {
  kIn,
  kNotIn,
  kEquals,        // a=b
  kDoubleEquals,  // a==b: equivalent, but printed as given
  kNotEquals,     // also true without the label
  kGreaterThan,
  kLessThan,
  kExists,
  kDoesNotExist,
};

// "in", "notin", "=", ...
std::string_view OperatorName(Operator op);

// One condition on one label. Immutable.
class Requirement {
 public:
  // Validates the key, the values and their number. Duplicate values are removed.
  // Errors: BadRequest with the text of the field errors, which are relative to `path`.
  static Result<Requirement> New(std::string_view key, Operator op, List<std::string> values,
                                 const FieldPath& path = {});

  const std::string& key() const { return key_; }
  Operator op() const { return op_; }
  const List<std::string>& values() const { return values_; }  // sorted

  bool Matches(LabelView labels) const;
  void AppendTo(std::string& out) const;  // "a in (b,c)"

  bool operator==(const Requirement&) const = default;

 private:
  friend class Selector;
  Requirement(std::string_view key, Operator op, List<std::string> values)
      : key_(key), op_(op), values_(std::move(values)) {}

  bool HasValue(std::string_view value) const;

  std::string key_;
  Operator op_;
  List<std::string> values_;
};

// A conjunction of requirements. The default matches everything.
//
//   COX_ASSIGN_OR_RETURN(auto selector, Selector::Parse("app=web,tier in (a,b),!legacy"));
//   if (selector.Matches(pod.metadata.labels)) ...
//
// Threads: as a plain value; Matches is const and does not allocate.
class Selector {
 public:
  Selector() = default;

  static Selector Everything() { return {}; }
  static Selector Nothing();

  // Syntax, separated by commas: a  !a  a=b  a==b  a!=b  a in (b,c)  a notin (b,c)  a>1  a<5
  // Errors: BadRequest with upstream's texts.
  static Result<Selector> Parse(std::string_view text);

  // From requirements; sorts them by key.
  explicit Selector(std::vector<Requirement> requirements);

  // Equality with each pair, without validation: for labels of an existing object.
  static Selector FromSet(std::span<const std::pair<std::string, std::string>> labels);

  // From a metav1.LabelSelector or a similar struct with the fields matchLabels (a map) and
  // matchExpressions (key, operator_, values). Null selects nothing, an empty one everything.
  template <class LabelSelector>
  static Result<Selector> FromLabelSelector(const LabelSelector* selector);

  bool Matches(LabelView labels) const;
  bool Empty() const { return requirements_.empty() && !nothing_; }  // matches everything
  bool SelectsNothing() const { return nothing_; }
  // The value that `key` must have, if the selector requires exactly one.
  std::optional<std::string_view> RequiresExactMatch(std::string_view key) const;

  const std::vector<Requirement>& requirements() const { return requirements_; }
  void Add(Requirement requirement);

  // Canonical: sorted by key, values sorted. Empty for everything and for nothing.
  std::string ToString() const;

  bool operator==(const Selector&) const = default;

 private:
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

// The operator of a LabelSelectorRequirement: "In", "NotIn", "Exists", "DoesNotExist".
// Errors: BadRequest for others.
Result<Operator> OperatorFromApi(std::string_view name);

template <class LabelSelector>
Result<Selector> Selector::FromLabelSelector(const LabelSelector* selector) {
  if (selector == nullptr) return Nothing();
  std::vector<Requirement> requirements;
  for (const auto& [key, value] : selector->matchLabels) {
    COX_ASSIGN_OR_RETURN(auto requirement, Requirement::New(key, Operator::kEquals, {value}));
    requirements.push_back(std::move(requirement));
  }
  for (const auto& expression : selector->matchExpressions) {
    COX_ASSIGN_OR_RETURN(Operator op, OperatorFromApi(expression.operator_));
    COX_ASSIGN_OR_RETURN(auto requirement, Requirement::New(expression.key, op, expression.values));
    requirements.push_back(std::move(requirement));
  }
  return Selector(std::move(requirements));
}

}  // namespace cox::labels
