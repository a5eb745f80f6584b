// SPDX-License-Identifier: Apache-2.0
#include "object/yaml/go_syntax.h"

#include <charconv>

#include "base/strings.h"
#include "object/yaml/resolve.h"

namespace cox::yaml {
namespace {

// An error names the value; nobody reads more of it.
constexpr size_t kMaxBytes = size_t{64} * 1024;

void AppendSyntax(const Value& value, std::string* out) {
  if (out->size() > kMaxBytes) return;
  switch (value.kind()) {
    case Value::Kind::kNull:
      *out += "interface {}(nil)";
      break;
    case Value::Kind::kBool:
      *out += value.as_bool() ? "true" : "false";
      break;
    case Value::Kind::kInt:
      *out += std::to_string(value.as_int());
      break;
    case Value::Kind::kDouble:
      *out += FormatG(value.as_double());
      break;
    case Value::Kind::kString:
      AppendQuoted(*out, value.as_string());
      break;
    case Value::Kind::kArray: {
      *out += "[]interface {}{";
      bool first = true;
      for (const Value& item : value.as_array()) {
        if (!first) *out += ", ";
        first = false;
        AppendSyntax(item, out);
      }
      *out += "}";
      break;
    }
    case Value::Kind::kObject: {
      *out += "map[interface {}]interface {}{";
      bool first = true;
      for (const auto& [key, member] : value.as_object()) {
        if (!first) *out += ", ";
        first = false;
        AppendQuoted(*out, key);
        *out += ":";
        AppendSyntax(member, out);
      }
      *out += "}";
      break;
    }
  }
}

}  // namespace

std::string GoSyntax(const Value& value) {
  std::string out;
  AppendSyntax(value, &out);
  if (out.size() > kMaxBytes) out.resize(kMaxBytes);
  return out;
}

std::string GoSyntaxUint(uint64_t value) {
  char buffer[16];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, 16);
  return "0x" + std::string(buffer, end.ptr);
}

}  // namespace cox::yaml
