// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace cox {

// Looks up strings by key in whatever holds them: the labels of an object, the fields of one.
//
// Two words, made on the fly from
//   - a map (std::map, std::unordered_map, ours): uses its find;
//   - any other range of pairs: searched from the front. Label sets are small;
//   - a callable std::optional<std::string_view>(std::string_view).
// Borrows: what it was made from must outlive it. Values it gives out are borrowed from there too.
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
