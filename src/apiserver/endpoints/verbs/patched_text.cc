// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/patched_text.h"

#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

// Finds members in the original's JSON, which our encoder wrote: compact and well-formed.
class RawMembers {
 public:
  // The text of the member `key` of the object `text`, or empty.
  static std::string_view Find(std::string_view text, std::string_view key) {
    if (text.empty() || text.front() != '{') return {};
    std::string quoted;
    json::WriteString(key, &quoted);
    size_t at = 1;
    while (at < text.size() && text[at] == '"') {
      const size_t name_end = Skip(text, at);
      const size_t value_end = Skip(text, name_end + 1);
      if (text.substr(at, name_end - at) == quoted) {
        return text.substr(name_end + 1, value_end - name_end - 1);
      }
      at = value_end + 1;  // after the comma
    }
    return {};
  }

 private:
  // The end of the value that starts at `at`.
  static size_t Skip(std::string_view text, size_t at) {
    int depth = 0;
    for (bool in_string = false; at < text.size(); ++at) {
      const char c = text[at];
      if (in_string) {
        if (c == '\\') {
          ++at;
        } else if (c == '"') {
          in_string = false;
          if (depth == 0) return at + 1;
        }
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return at;
        if (--depth == 0) return at + 1;
      } else if (c == ',' && depth == 0) {
        return at;
      }
    }
    return at;
  }
};

void Write(const Value& patched, const Value* original, std::string_view raw, std::string* out) {
  if (original != nullptr && !raw.empty() && *original == patched) {
    out->append(raw);
    return;
  }
  if (!patched.is_object()) {
    json::WriteTo(patched, out);
    return;
  }
  *out += '{';
  bool first = true;
  for (const auto& [key, value] : patched.as_object()) {
    if (!first) *out += ',';
    first = false;
    json::WriteString(key, out);
    *out += ':';
    Write(value, original == nullptr ? nullptr : original->Find(key), RawMembers::Find(raw, key),
          out);
  }
  *out += '}';
}

}  // namespace

std::string PatchedText(const Object& original, const Value& patched) {
  const Value before = original.ToValue();
  const json::TypeMeta meta{original.gvk().group_version().ToString(), original.gvk().kind};
  std::string raw;
  json::Encode(original.type(), original.data(), &raw, &meta);
  std::string out;
  // The top-level members are always sorted.
  out += '{';
  bool first = true;
  for (const auto& [key, value] : patched.as_object()) {
    if (!first) out += ',';
    first = false;
    json::WriteString(key, &out);
    out += ':';
    Write(value, before.Find(key), RawMembers::Find(raw, key), &out);
  }
  return out + "}";
}

}  // namespace cox::apiserver
