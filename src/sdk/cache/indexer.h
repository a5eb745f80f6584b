// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/string_hash.h"
#include "coxswain/informer.h"
#include "sdk/cache/item.h"

namespace cox::sdk {

// The objects of an informer, by key and by indexes.
//
// Guarantees: readers always see an object together with its index entries.
// Threads: readers may run at any time; they share the lock and only copy items while they hold it.
//   Put, Substitute, Remove and AddIndex require one thread at a time; index functions run on that
//   thread.
class Indexer {
 public:
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
  // Replaces the item with the same key by another form of the same version.
  // REQUIRES: there is one.
  void Substitute(Item item);
  void Remove(std::string_view ns, std::string_view name);
  void AddIndex(std::string name, IndexFunction function);

 private:
  struct Slot;
  // The items for which an index function returned one value, in no order.
  struct Group {
    std::string_view value;  // the key of the group in Index::groups
    std::vector<Slot*> slots;
  };
  // The place of an item in a group of index number `index`.
  struct Membership {
    Group* group;
    uint32_t index;
    uint32_t position;  // in group->slots
  };
  struct Slot {
    Item item;
    // By number of the index. An index function may return other values later, so a removal uses
    // these.
    std::vector<Membership> memberships = {};
  };
  // By namespace, then by name. The name refers to the item's own storage, so that no key is stored
  // twice. Slots have stable addresses, because groups point to them.
  using Namespace = std::unordered_map<std::string_view, Slot>;
  template <class V>
  using ByText = std::unordered_map<std::string, V, StringHash, std::equal_to<>>;

  struct Index {
    std::string name;
    IndexFunction function;
    ByText<Group> groups = {};
  };
  // The values of one item for each index, or of one index for each item.
  using Values = std::vector<std::vector<std::string>>;

  Values ValuesOf(const Item& item) const COX_REQUIRES_SHARED(mu_);
  const Group* FindGroup(std::string_view index, std::string_view value) const
      COX_REQUIRES_SHARED(mu_);
  // Stores the item under its key. Returns its slot, and moves the item that it replaces to
  // `before`.
  Slot& Place(Item item, Item* before) COX_REQUIRES(mu_);
  void Join(Slot& slot, uint32_t index, std::vector<std::string> values) COX_REQUIRES(mu_);
  // Ends the memberships of index number `index`, or of all indexes (kAll).
  static constexpr uint32_t kAll = UINT32_MAX;
  void Leave(Slot& slot, uint32_t index) COX_REQUIRES(mu_);
  // Whether `values` are those of the slot's memberships of index number `index`.
  static bool HasValues(const Slot& slot, uint32_t index, const std::vector<std::string>& values);

  mutable SharedMutex mu_;
  ByText<Namespace> namespaces_ COX_GUARDED_BY(mu_);
  std::vector<Index> indexes_ COX_GUARDED_BY(mu_);
  size_t size_ COX_GUARDED_BY(mu_) = 0;
  size_t bytes_ COX_GUARDED_BY(mu_) = 0;
};

}  // namespace cox::sdk
