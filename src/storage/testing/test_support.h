// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/watchcache/change.h"
#include "storage/watchcache/entry.h"

// Helpers for the tests of this folder: objects whose bytes are "name=value" pairs, and shorthands.
namespace cox::storage {

// Reads stored bytes like "app=web,tier=front" as labels.
class TextHeads final : public HeadReader {
 public:
  void Read(std::string_view, std::string_view value, HeadBuilder& head) const override {
    while (!value.empty()) {
      const std::string_view pair = value.substr(0, value.find(','));
      value.remove_prefix(std::min(value.size(), pair.size() + 1));
      const size_t equals = pair.find('=');
      if (equals == std::string_view::npos) continue;
      head.Label(pair.substr(0, equals), pair.substr(equals + 1));
    }
  }
};

// Reads the pair "node=..." as the indexed field, other pairs as labels.
class IndexedHeads final : public HeadReader {
 public:
  std::vector<std::string> field_names() const override { return {"node"}; }
  std::optional<size_t> indexed_field() const override { return 0; }
  void Read(std::string_view key, std::string_view value, HeadBuilder& head) const override {
    const size_t at = value.find("node=");
    if (at == std::string_view::npos) return TextHeads().Read(key, value, head);
    TextHeads().Read(key, value.substr(0, at), head);
    head.Field(0, value.substr(at + 5));
  }
};

inline EntryPtr IndexedEntry(std::string_view key, std::string_view value, Revision revision) {
  static const EntryClassPtr type = std::make_shared<const EntryClass>(
      EntryClass{{"node"}, std::make_shared<EncodingBudget>(), /*indexed_field=*/0});
  HeadBuilder head(1);
  IndexedHeads().Read(key, value, head);
  return Entry::Create(type, key, value, head.Finish(), revision);
}

inline EntryClassPtr TestClass(size_t encodings = EncodingBudget::kDefaultLimit) {
  return std::make_shared<const EntryClass>(
      EntryClass{{}, std::make_shared<EncodingBudget>(encodings)});
}

inline EntryPtr TestEntry(std::string_view key, std::string_view value = "v", Revision revision = 1,
                          EntryClassPtr type = TestClass()) {
  HeadBuilder head(0);
  TextHeads().Read(key, value, head);
  return Entry::Create(std::move(type), key, value, head.Finish(), revision);
}

// "+key@revision" for additions, "~" for modifications, "-" for deletions.
inline std::string ToText(const Change& change) {
  const char* const signs[] = {"+", "~", "-", "#"};
  return signs[static_cast<size_t>(change.type)] + std::string(change.entry->key()) + "@" +
         std::to_string(change.revision);
}
inline std::vector<std::string> ToText(const std::vector<ChangePtr>& changes) {
  std::vector<std::string> texts;
  for (const ChangePtr& change : changes) texts.push_back(ToText(*change));
  return texts;
}

}  // namespace cox::storage
