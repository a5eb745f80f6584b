// SPDX-License-Identifier: Apache-2.0
#include "kubelet/logs/query.h"

#include "base/strings.h"

namespace cox::kubelet {
namespace {

int Hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string Unescape(std::string_view text, bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      out.push_back(' ');
    } else if (text[i] == '%' && i + 2 < text.size() && Hex(text[i + 1]) >= 0 &&
               Hex(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(Hex(text[i + 1]) * 16 + Hex(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

Query::Query(std::string_view text) {
  for (const std::string_view part : Split(text, '&')) {
    if (part.empty()) continue;
    const CutResult cut = Cut(part, '=');
    values_.emplace_back(Unescape(cut.before, true), Unescape(cut.after, true));
  }
}

std::optional<std::string> Query::Get(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> Query::All(std::string_view name) const {
  std::vector<std::string> found;
  for (const auto& [key, value] : values_) {
    if (key == name) found.push_back(value);
  }
  return found;
}

bool Query::GetBool(std::string_view name) const {
  const std::optional<std::string> value = Get(name);
  return value && (value->empty() || *value == "true" || *value == "1" || *value == "True");
}

}  // namespace cox::kubelet
