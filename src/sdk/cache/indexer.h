// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "sdk/cache/item.h"

namespace cox::sdk {

// The objects of an informer, by key and by indexes.
//
// Guarantees: readers always see an object together with its index entries.
// Threads: readers may run at any time; they share the lock and only copy items while they hold it.
//   Put, Remove and AddIndex require one thread at a time; index functions run on that thread.
class Indexer {
 public:
  explicit Indexer(const ItemForm& form) : form_(form) {}

  Item Get(std::string_view ns, std::string_view name) const;
  // Items of one namespace, or of all ("").
  std::vector<Item> List(std::string_view ns) const;
  std::vector<Item> Find(std::string_view index, std::string_view value) const;
  // Calls `visit` for the items that Find returns until it returns false. Holds the lock.
  void Visit(std::string_view index, std::string_view value,
             const std::function<bool(const Item&)>& visit) const;
  size_t size() const;
  size_t bytes() const;

  // Replaces the item with the same key.
  void Put(Item item);
  void Remove(std::string_view ns, std::string_view name);
  void AddIndex(std::string name, IndexFunction function);

 private:
  // By namespace, then by name. The name refers to the item's own storage, so that no key is stored
  // twice. Items have stable addresses, because indexes point to them.
  using Namespace = std::unordered_map<std::string_view, Item>;

  struct Index {
    IndexFunction function;
    std::unordered_map<std::string, std::unordered_set<const Item*>> items;
    // The values under which an item was added: an index function may return other values on
    // removal.
    std::unordered_map<const Item*, std::vector<std::string>> values;

    void Put(const Item* item, std::vector<std::string> now);
    void Remove(const Item* item);
  };
  // One entry per index, in the order of indexes_.
  using Values = std::vector<std::vector<std::string>>;

  Values ValuesOf(const Item& item) const COX_REQUIRES_SHARED(mu_);

  const ItemForm& form_;
  mutable SharedMutex mu_;
  std::unordered_map<std::string, Namespace> namespaces_ COX_GUARDED_BY(mu_);
  std::vector<std::pair<std::string, Index>> indexes_ COX_GUARDED_BY(mu_);
  size_t size_ COX_GUARDED_BY(mu_) = 0;
  size_t bytes_ COX_GUARDED_BY(mu_) = 0;
};

}  // namespace cox::sdk
