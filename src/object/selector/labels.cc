// SPDX-License-Identifier: Apache-2.0
#include "object/selector/labels.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"
#include "object/validation/names.h"

namespace cox::labels {
namespace {

// In the order of Operator.
constexpr std::array<std::string_view, 9> kNames = {
    "in", "notin", "=", "==", "!=", "gt", "lt", "exists", "!"};

std::optional<int64_t> ParseInt(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Upstream does not distinguish an absent list from an empty one here.
FieldValue ListValue(std::span<const std::string> values) {
  return values.empty() ? FieldValue(nullptr) : FieldValue(values);
}

void CheckCount(Operator op, std::span<const std::string> values, const FieldPath& path,
                FieldErrorList& out) {
  switch (op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (values.empty()) {
        out.push_back(FieldError::Invalid(
            path, ListValue(values), "for 'in', 'notin' operators, values set can't be empty"));
      }
      break;
    case Operator::kEquals:
    case Operator::kDoubleEquals:
    case Operator::kNotEquals:
      if (values.size() != 1) {
        out.push_back(FieldError::Invalid(path, ListValue(values),
                                          "exact-match compatibility requires one single value"));
      }
      break;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (!values.empty()) {
        out.push_back(FieldError::Invalid(
            path, ListValue(values), "values set must be empty for exists and does not exist"));
      }
      break;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      if (values.size() != 1) {
        out.push_back(FieldError::Invalid(
            path, ListValue(values), "for 'Gt', 'Lt' operators, exactly one value is required"));
      }
      for (size_t i = 0; i < values.size(); ++i) {
        if (ParseInt(values[i])) continue;
        out.push_back(FieldError::Invalid(
            path.Index(i), values[i], "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
      break;
  }
}

bool ByKey(const Requirement& a, const Requirement& b) { return a.key() < b.key(); }

}  // namespace

std::string_view OperatorName(Operator op) { return kNames[static_cast<size_t>(op)]; }

Result<Operator> OperatorFromApi(std::string_view name) {
  if (name == "In") return Operator::kIn;
  if (name == "NotIn") return Operator::kNotIn;
  if (name == "Exists") return Operator::kExists;
  if (name == "DoesNotExist") return Operator::kDoesNotExist;
  return Status::BadRequest(Quote(name) + " is not a valid label selector operator");
}

Result<Requirement> Requirement::New(std::string_view key, Operator op, List<std::string> values,
                                     const FieldPath& path) {
  FieldErrorList errors;
  if (validation::Messages messages = validation::IsLabelKey(key); !messages.empty()) {
    errors.push_back(FieldError::Invalid(path.Child("key"), key, Join(messages, "; ")));
  }
  const FieldPath values_path = path.Child("values");
  CheckCount(op, values, values_path, errors);
  for (size_t i = 0; i < values.size(); ++i) {
    if (validation::Messages messages = validation::IsValidLabelValue(values[i]);
        !messages.empty()) {
      errors.push_back(
          FieldError::Invalid(values_path.Index(i).Key(key), values[i], Join(messages, "; ")));
    }
  }
  if (!errors.empty()) return Status::BadRequest(AggregateText(errors));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return Requirement(key, op, std::move(values));
}

bool Requirement::HasValue(std::string_view value) const {
  return std::binary_search(values_.begin(), values_.end(), value);
}

bool Requirement::Matches(LabelView labels) const {
  const std::optional<std::string_view> value = labels.Get(key_);
  switch (op_) {
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals:
      return value && HasValue(*value);
    case Operator::kNotIn:
    case Operator::kNotEquals:
      return !value || !HasValue(*value);
    case Operator::kExists:
      return value.has_value();
    case Operator::kDoesNotExist:
      return !value.has_value();
    case Operator::kGreaterThan:
    case Operator::kLessThan: {
      const std::optional<int64_t> have = value ? ParseInt(*value) : std::nullopt;
      const std::optional<int64_t> want = ParseInt(values_.front());
      if (!have || !want) return false;
      return op_ == Operator::kGreaterThan ? *have > *want : *have < *want;
    }
  }
  return false;
}

void Requirement::AppendTo(std::string& out) const {
  if (op_ == Operator::kDoesNotExist) out += '!';
  out += key_;
  switch (op_) {
    case Operator::kExists:
    case Operator::kDoesNotExist:
      return;
    case Operator::kIn:
    case Operator::kNotIn:
      out.append(" ").append(OperatorName(op_)).append(" (");
      out.append(Join(values_, ",")).append(")");
      return;
    case Operator::kGreaterThan:
      out += '>';
      break;
    case Operator::kLessThan:
      out += '<';
      break;
    default:
      out += OperatorName(op_);
  }
  out += values_.front();
}

Selector::Selector(std::vector<Requirement> requirements) : requirements_(std::move(requirements)) {
  std::stable_sort(requirements_.begin(), requirements_.end(), ByKey);
}

Selector Selector::Nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Selector Selector::FromSet(std::span<const std::pair<std::string, std::string>> labels) {
  std::vector<Requirement> requirements;
  requirements.reserve(labels.size());
  for (const auto& [key, value] : labels) {
    requirements.push_back(Requirement(key, Operator::kEquals, {value}));
  }
  return Selector(std::move(requirements));
}

bool Selector::Matches(LabelView labels) const {
  return !nothing_ && std::all_of(requirements_.begin(), requirements_.end(),
                                  [&](const Requirement& r) { return r.Matches(labels); });
}

std::optional<std::string_view> Selector::RequiresExactMatch(std::string_view key) const {
  for (const Requirement& r : requirements_) {
    if (r.key() != key) continue;
    if ((r.op() == Operator::kEquals || r.op() == Operator::kDoubleEquals ||
         r.op() == Operator::kIn) &&
        r.values().size() == 1) {
      return r.values().front();
    }
    return std::nullopt;
  }
  return std::nullopt;
}

void Selector::Add(Requirement requirement) {
  auto at = std::upper_bound(requirements_.begin(), requirements_.end(), requirement, ByKey);
  requirements_.insert(at, std::move(requirement));
}

std::string Selector::ToString() const {
  std::string out;
  for (const Requirement& r : requirements_) {
    if (!out.empty()) out += ',';
    r.AppendTo(out);
  }
  return out;
}

}  // namespace cox::labels
