// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace cox {

// A type-erased lookup of strings by key, for the labels or fields of an object.
//
// Two words, created implicitly from
//   - a map (std::map, std::unordered_map, Map): uses its find;
//   - any other range of pairs: linear search, because label sets are small;
//   - a callable std::optional<std::string_view>(std::string_view).
// Ownership: borrows the source, which must outlive the view and the returned values.
class LabelView {
 public:
  template <class Source>
    requires(!std::is_same_v<std::remove_cvref_t<Source>, LabelView>)
  LabelView(const Source& source)  // NOLINT: implicit
      : source_(&source), get_(&GetFrom<Source>) {}

  std::optional<std::string_view> Get(std::string_view key) const { return get_(source_, key); }
  bool Has(std::string_view key) const { return Get(key).has_value(); }

 private:
  template <class Source>
  static std::optional<std::string_view> GetFrom(const void* erased, std::string_view key) {
    const Source& source = *static_cast<const Source*>(erased);
    if constexpr (std::is_invocable_v<const Source&, std::string_view>) {
      return source(key);
    } else if constexpr (requires { source.find(key)->second; }) {
      auto it = source.find(key);
      return it == source.end() ? std::nullopt : std::optional<std::string_view>(it->second);
    } else if constexpr (requires { source.find(std::string(key))->second; }) {
      auto it = source.find(std::string(key));
      return it == source.end() ? std::nullopt : std::optional<std::string_view>(it->second);
    } else {
      for (const auto& [name, value] : source) {
        if (name == key) return std::string_view(value);
      }
      return std::nullopt;
    }
  }

  const void* source_;
  std::optional<std::string_view> (*get_)(const void*, std::string_view);
};

}  // namespace cox
