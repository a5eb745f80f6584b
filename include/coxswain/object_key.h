// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

namespace cox {

// Which object of a kind: its namespace (empty for kinds without) and its name. What work queues
// hold, what reconcilers get, what caches are asked for.
struct ObjectKey {
  std::string ns;  // `namespace` is a word of the language
  std::string name;

  // "default/web"; "node-1" for kinds without a namespace.
  std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }
  // The way back; a text with more than one slash is taken as a name whole.
  static ObjectKey Parse(std::string_view text) {
    const size_t slash = text.find('/');
    if (slash == std::string_view::npos || text.find('/', slash + 1) != std::string_view::npos) {
      return {"", std::string(text)};
    }
    return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
  }

  auto operator<=>(const ObjectKey&) const = default;
};

// The key of an object of any struct with metadata.
template <class T>
  requires requires(const T& object) { object.metadata.name; }
ObjectKey KeyOf(const T& object) {
  return {object.metadata.namespace_, object.metadata.name};
}

}  // namespace cox

template <>
struct std::hash<cox::ObjectKey> {
  size_t operator()(const cox::ObjectKey& key) const noexcept {
    const std::hash<std::string_view> hash;
    return hash(key.ns) * 1'000'003 ^ hash(key.name);
  }
};
