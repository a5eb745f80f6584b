// SPDX-License-Identifier: Apache-2.0
#include "net/http.h"

#include <algorithm>

namespace cox::net {

void Headers::Set(std::string_view name, std::string value) {
  auto at = std::find_if(fields_.begin(), fields_.end(),
                         [&](const Field& field) { return field.first == name; });
  if (at == fields_.end()) {
    fields_.emplace_back(std::string(name), std::move(value));
    return;
  }
  at->second = std::move(value);
  fields_.erase(std::remove_if(at + 1, fields_.end(),
                               [&](const Field& field) { return field.first == name; }),
                fields_.end());
}

std::optional<std::string_view> Headers::Get(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Headers::All(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : fields_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

void Headers::Remove(std::string_view name) {
  std::erase_if(fields_, [&](const Field& field) { return field.first == name; });
}

void Headers::Clean() {
  for (auto& [name, value] : fields_) {
    for (char& c : value) {
      if (c == '\r' || c == '\n' || c == '\0') c = ' ';
    }
  }
}

bool IsHopByHop(std::string_view name) {
  switch (name.size()) {
    case 7:
      return name == "upgrade";
    case 10:
      return name == "connection" || name == "keep-alive";
    case 16:
      return name == "proxy-connection";
    case 17:
      return name == "transfer-encoding";
    default:
      return false;
  }
}

}  // namespace cox::net
