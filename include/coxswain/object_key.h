// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

namespace cox {

// Identifies an object of a kind by namespace (empty for cluster-scoped kinds) and name. Used by
// work queues, reconcilers and caches.
struct ObjectKey {
  std::string ns;  // `namespace` is a C++ keyword
  std::string name;

  // "default/web"; "node-1" for cluster-scoped kinds.
  std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }
  // Inverse of ToString. A text with more than one slash is treated as a name.
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
