// SPDX-License-Identifier: Apache-2.0
#pragma once

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
// Guarantees: a reader sees each object whole, with its indexes.
// Threads: readers at any time, they share the lock and none of them runs code of others under it
//   but copies items. Put, Remove and AddIndex by one thread at a time; index functions run on it.
class Indexer {
 public:
  explicit Indexer(const ItemForm& form) : form_(form) {}

  Item Get(std::string_view ns, std::string_view name) const;
  // Of one namespace, or all ("").
  std::vector<Item> List(std::string_view ns) const;
  std::vector<Item> Find(std::string_view index, std::string_view value) const;
  size_t size() const;
  size_t bytes() const;

  // In place of what was there under its key.
  void Put(Item item);
  void Remove(std::string_view ns, std::string_view name);
  void AddIndex(std::string name, IndexFunction function);

 private:
  // By namespace, then by name, where the name is the item's own: no key is kept twice. Items do
  // not move while they are there, so that indexes can point to them.
  using Namespace = std::unordered_map<std::string_view, Item>;

  struct Index {
    IndexFunction function;
    std::unordered_map<std::string, std::unordered_set<const Item*>> items;
    // Under what an item was put: functions need not give the same again for it to be found.
    std::unordered_map<const Item*, std::vector<std::string>> values;

    void Put(const Item* item, std::vector<std::string> now);
    void Remove(const Item* item);
  };
  using Values = std::vector<std::vector<std::string>>;  // for each of indexes_, in their order

  Values ValuesOf(const Item& item) const COX_REQUIRES_SHARED(mu_);

  const ItemForm& form_;
  mutable SharedMutex mu_;
  std::unordered_map<std::string, Namespace> namespaces_ COX_GUARDED_BY(mu_);
  std::vector<std::pair<std::string, Index>> indexes_ COX_GUARDED_BY(mu_);
  size_t size_ COX_GUARDED_BY(mu_) = 0;
  size_t bytes_ COX_GUARDED_BY(mu_) = 0;
};

}  // namespace cox::sdk
