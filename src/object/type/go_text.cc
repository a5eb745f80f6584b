// SPDX-License-Identifier: Apache-2.0
#include "object/type/go_text.h"

#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace cox {
namespace {

// The verb %g: positional between 1e-4 and 1e6, else with an exponent of at least two digits.
void AppendDouble(double value, std::string* out) {
  if (std::isnan(value)) {
    *out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    *out += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  char buffer[400];  // the longest positional double needs 326
  auto scientific =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string_view text(buffer, static_cast<size_t>(scientific.ptr - buffer));
  std::string_view digits = text.substr(text.rfind('e') + 1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int exponent = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (value == 0 || (exponent >= -4 && exponent < 6)) {
    auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
    text = {buffer, static_cast<size_t>(fixed.ptr - buffer)};
  }
  *out += text;
}

// False if the text has become too long.
bool Append(const Value& value, std::string* out) {
  if (out->size() > kMaxGoTextBytes) return false;
  const char* separator = "";
  switch (value.kind()) {
    case Value::Kind::kNull:
      *out += "<nil>";
      return true;
    case Value::Kind::kBool:
      *out += value.as_bool() ? "true" : "false";
      return true;
    case Value::Kind::kInt:
      *out += std::to_string(value.as_int());
      return true;
    case Value::Kind::kDouble:
      AppendDouble(value.as_double(), out);
      return true;
    case Value::Kind::kString:
      *out += value.as_string().substr(0, kMaxGoTextBytes + 1);
      return true;
    case Value::Kind::kArray:
      *out += "[";
      for (const Value& item : value.as_array()) {
        *out += separator;
        if (!Append(item, out)) return false;
        separator = " ";
      }
      *out += "]";
      return true;
    case Value::Kind::kObject:
      break;
  }
  *out += "map[";
  for (const auto& [key, member] : value.as_object()) {
    *out += separator;
    *out += key;
    *out += ":";
    if (!Append(member, out)) return false;
    separator = " ";
  }
  *out += "]";
  return true;
}

// The same for %#v.
bool AppendSyntax(const Value& value, std::string_view map_type, std::string* out) {
  if (out->size() > kMaxGoTextBytes) return false;
  const char* separator = "";
  switch (value.kind()) {
    case Value::Kind::kNull:
      *out += "interface {}(nil)";
      return true;
    case Value::Kind::kString:
      AppendQuoted(*out, value.as_string().substr(0, kMaxGoTextBytes + 1));
      return true;
    case Value::Kind::kArray:
      *out += "[]interface {}{";
      for (const Value& item : value.as_array()) {
        *out += separator;
        if (!AppendSyntax(item, map_type, out)) return false;
        separator = ", ";
      }
      *out += "}";
      return true;
    case Value::Kind::kObject:
      break;
    default:
      return Append(value, out);
  }
  out->append(map_type).append("{");
  for (const auto& [key, member] : value.as_object()) {
    *out += separator;
    AppendQuoted(*out, key);
    *out += ":";
    if (!AppendSyntax(member, map_type, out)) return false;
    separator = ", ";
  }
  *out += "}";
  return true;
}

}  // namespace

std::string GoSyntax(const Value& value, std::string_view map_type) {
  std::string out;
  AppendSyntax(value, map_type, &out);
  if (out.size() > kMaxGoTextBytes) out.resize(kMaxGoTextBytes);
  return out;
}

std::string GoText(const Value& value) {
  std::string out;
  Append(value, &out);
  if (out.size() > kMaxGoTextBytes) {
    out.resize(kMaxGoTextBytes);
    out += "...";
  }
  return out;
}

std::string_view GoTypeName(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "%!s(<nil>)";
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kInt:
      return "int64";
    case Value::Kind::kDouble:
      return "float64";
    case Value::Kind::kString:
      return "string";
    case Value::Kind::kArray:
      return "[]interface {}";
    case Value::Kind::kObject:
      break;
  }
  return "map[string]interface {}";
}

std::string CannotUnmarshal(const Value& value, std::string_view target) {
  return "json: cannot unmarshal " + std::string(value.KindName()) + " into Go " +
         std::string(target);
}

}  // namespace cox
