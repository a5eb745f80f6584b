// SPDX-License-Identifier: Apache-2.0
#include "object/apply/path.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace cox::apply {
namespace {

// The order of value kinds in fieldsV1.
int Rank(const Value& v) {
  switch (v.kind()) {
    case Value::Kind::kInt:
    case Value::Kind::kDouble:
      return 0;
    case Value::Kind::kString:
      return 1;
    case Value::Kind::kBool:
      return 2;
    case Value::Kind::kArray:
      return 3;
    case Value::Kind::kObject:
      return 4;
    case Value::Kind::kNull:
      break;
  }
  return 5;
}

std::strong_ordering CompareValues(const Value& a, const Value& b) {
  if (auto by_rank = Rank(a) <=> Rank(b); by_rank != 0) return by_rank;
  switch (a.kind()) {
    case Value::Kind::kArray:
      return std::lexicographical_compare_three_way(
          a.as_array().begin(), a.as_array().end(), b.as_array().begin(), b.as_array().end(),
          [](const Value& x, const Value& y) { return CompareValues(x, y); });
    case Value::Kind::kObject:
      return std::lexicographical_compare_three_way(
          a.as_object().begin(), a.as_object().end(), b.as_object().begin(), b.as_object().end(),
          [](const ValueObject::Member& x, const ValueObject::Member& y) {
            if (auto by_key = x.key <=> y.key; by_key != 0) return by_key;
            return CompareValues(x.value, y.value);
          });
    default:
      return Compare(a, b);
  }
}

void AppendValue(const Value& v, std::string* out) {
  switch (v.kind()) {
    case Value::Kind::kNull:
      *out += "null";
      break;
    case Value::Kind::kBool:
      *out += v.as_bool() ? "true" : "false";
      break;
    case Value::Kind::kInt:
      *out += std::to_string(v.as_int());
      break;
    case Value::Kind::kDouble:
      *out += FormatDouble(v.as_double());
      break;
    case Value::Kind::kString:
      AppendQuoted(*out, v.as_string());
      break;
    case Value::Kind::kArray:
      *out += '[';
      for (const Value& item : v.as_array()) {
        if (&item != v.as_array().data()) *out += ',';
        AppendValue(item, out);
      }
      *out += ']';
      break;
    case Value::Kind::kObject:
      for (const auto& [key, value] : v.as_object()) {
        *out += key;
        *out += '=';
        AppendValue(value, out);
      }
      break;
  }
}

}  // namespace

Value PathElement::AsWritten(Value value) {
  constexpr double kExact = 9007199254740992;  // 2^53: smaller integers are exact as doubles
  if (value.is_double() && std::abs(value.as_double()) >= kExact) {
    const std::string text = FormatDouble(value.as_double());
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return Value(number);
  } else if (value.is_array()) {
    for (Value& item : value.as_array()) item = AsWritten(std::move(item));
  } else if (value.is_object()) {
    for (auto& member : value.as_object()) member.value = AsWritten(std::move(member.value));
  }
  return value;
}

void PathElement::AppendTo(std::string* out) const {
  switch (kind_) {
    case Kind::kField:
      *out += '.';
      *out += name();
      return;
    case Kind::kIndex:
      *out += '[' + std::to_string(value_.as_int()) + ']';
      return;
    case Kind::kValue:
      *out += "[=";
      AppendValue(value_, out);
      *out += ']';
      return;
    case Kind::kKey:
      break;
  }
  char separator = '[';
  for (const auto& [key, value] : value_.as_object()) {
    *out += separator;
    *out += key;
    *out += '=';
    AppendValue(value, out);
    separator = ',';
  }
  if (separator == '[') *out += separator;
  *out += ']';
}

std::strong_ordering operator<=>(const PathElement& a, const PathElement& b) {
  if (auto by_kind = a.kind_ <=> b.kind_; by_kind != 0) return by_kind;
  if (a.kind_ == PathElement::Kind::kField) return a.name() <=> b.name();
  return CompareValues(a.value_, b.value_);
}

std::strong_ordering PathElement::Compare(const PathElement& a, std::string_view name) {
  return a.kind_ == Kind::kField ? a.name() <=> name : std::strong_ordering::greater;
}

std::string PathText(std::span<const PathElement> path) {
  std::string text;
  for (const PathElement& element : path) element.AppendTo(&text);
  return text;
}

}  // namespace cox::apply
