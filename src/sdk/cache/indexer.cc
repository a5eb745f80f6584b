// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/indexer.h"

#include <algorithm>

#include "base/check.h"

namespace cox::sdk {
namespace {

// Approximate map overhead per item.
constexpr size_t kNode = 112;

}  // namespace

Item Indexer::Get(std::string_view ns, std::string_view name) const {
  ReaderLock lock(mu_);
  const auto space = namespaces_.find(ns);
  if (space == namespaces_.end()) return {};
  const auto found = space->second.find(name);
  return found == space->second.end() ? Item() : found->second.item;
}

std::vector<Item> Indexer::List(std::string_view ns) const {
  std::vector<Item> out;
  ReaderLock lock(mu_);
  if (!ns.empty()) {
    const auto space = namespaces_.find(ns);
    if (space == namespaces_.end()) return out;
    out.reserve(space->second.size());
    for (const auto& [name, slot] : space->second) out.push_back(slot.item);
    return out;
  }
  out.reserve(size_);
  for (const auto& [name, space] : namespaces_) {
    for (const auto& [key, slot] : space) out.push_back(slot.item);
  }
  return out;
}

const Indexer::Group* Indexer::FindGroup(std::string_view index, std::string_view value) const {
  const auto found = std::find_if(indexes_.begin(), indexes_.end(),
                                  [index](const Index& each) { return each.name == index; });
  if (found == indexes_.end()) return nullptr;
  const auto group = found->groups.find(value);
  return group == found->groups.end() ? nullptr : &group->second;
}

std::vector<Item> Indexer::Find(std::string_view index, std::string_view value) const {
  std::vector<Item> out;
  ReaderLock lock(mu_);
  const Group* const group = FindGroup(index, value);
  if (group == nullptr) return out;
  out.reserve(group->slots.size());
  for (const Slot* slot : group->slots) out.push_back(slot->item);
  return out;
}

void Indexer::Visit(std::string_view index, std::string_view value,
                    const std::function<bool(const Item&)>& visit) const {
  ReaderLock lock(mu_);
  const Group* const group = FindGroup(index, value);
  if (group == nullptr) return;
  for (const Slot* slot : group->slots) {
    if (!visit(slot->item)) return;
  }
}

size_t Indexer::size() const {
  ReaderLock lock(mu_);
  return size_;
}

size_t Indexer::bytes() const {
  ReaderLock lock(mu_);
  return bytes_ + size_ * kNode;
}

Indexer::Slot& Indexer::Place(Item item, Item* before) {
  Namespace& space = namespaces_[std::string(item.ns())];
  const std::string_view name = item.name();
  bytes_ += item.bytes();
  auto node = space.extract(name);
  if (!node) {
    ++size_;
    return space.emplace(name, Slot{.item = std::move(item)}).first->second;
  }
  bytes_ -= node.mapped().item.bytes();
  *before = std::exchange(node.mapped().item, std::move(item));
  node.key() = name;  // the old item's storage is freed
  return space.insert(std::move(node)).position->second;
}

void Indexer::Put(Item item) {
  Values values;
  {
    ReaderLock lock(mu_);
    values = ValuesOf(item);
  }
  Item before;  // freed after the lock
  WriterLock lock(mu_);
  Slot& slot = Place(std::move(item), &before);
  for (uint32_t i = 0; i < indexes_.size(); ++i) {
    if (HasValues(slot, i, values[i])) continue;
    Leave(slot, i);
    Join(slot, i, std::move(values[i]));
  }
}

void Indexer::Substitute(Item item) {
  Item before;  // freed after the lock
  WriterLock lock(mu_);
  Place(std::move(item), &before);
  COX_CHECK(!before.empty()) << "there is an item to substitute";
}

void Indexer::Remove(std::string_view ns, std::string_view name) {
  Namespace::node_type node;  // freed after the lock
  WriterLock lock(mu_);
  const auto space = namespaces_.find(ns);
  if (space == namespaces_.end()) return;
  const auto found = space->second.find(name);
  if (found == space->second.end()) return;
  Leave(found->second, kAll);
  bytes_ -= found->second.item.bytes();
  --size_;
  node = space->second.extract(found);
  if (space->second.empty()) namespaces_.erase(space);
}

void Indexer::AddIndex(std::string name, IndexFunction function) {
  // Only the calling thread changes items, so their order stays the same between the locks.
  Values values;
  {
    ReaderLock lock(mu_);
    values.reserve(size_);
    for (const auto& [ns, space] : namespaces_) {
      for (const auto& [key, slot] : space) values.push_back(function(*slot.item.Read()));
    }
  }
  WriterLock lock(mu_);
  const auto same = std::find_if(indexes_.begin(), indexes_.end(),
                                 [&name](const Index& each) { return each.name == name; });
  const auto number = static_cast<uint32_t>(same - indexes_.begin());
  if (same == indexes_.end()) {
    indexes_.push_back({.name = std::move(name), .function = std::move(function)});
  } else {
    same->function = std::move(function);
  }
  auto next = values.begin();
  for (auto& [ns, space] : namespaces_) {
    for (auto& [key, slot] : space) {
      Leave(slot, number);
      Join(slot, number, std::move(*next++));
    }
  }
}

Indexer::Values Indexer::ValuesOf(const Item& item) const {
  Values values;
  if (indexes_.empty()) return values;
  const ObjectPtr object = item.Read();
  values.reserve(indexes_.size());
  for (const Index& index : indexes_) values.push_back(index.function(*object));
  return values;
}

bool Indexer::HasValues(const Slot& slot, uint32_t index, const std::vector<std::string>& values) {
  size_t next = 0;
  for (const Membership& each : slot.memberships) {
    if (each.index != index) continue;
    if (next == values.size() || each.group->value != values[next]) return false;
    ++next;
  }
  return next == values.size();
}

void Indexer::Join(Slot& slot, uint32_t index, std::vector<std::string> values) {
  for (std::string& value : values) {
    const auto [found, added] = indexes_[index].groups.try_emplace(std::move(value));
    Group& group = found->second;
    if (added) group.value = found->first;
    // The last slot of the group is this one if the function returned the value twice.
    if (!group.slots.empty() && group.slots.back() == &slot) continue;
    slot.memberships.push_back(
        {.group = &group, .index = index, .position = static_cast<uint32_t>(group.slots.size())});
    group.slots.push_back(&slot);
  }
}

void Indexer::Leave(Slot& slot, uint32_t index) {
  std::erase_if(slot.memberships, [&](const Membership& each) COX_REQUIRES(mu_) {
    if (index != kAll && each.index != index) return false;
    Group& group = *each.group;
    Slot* const last = group.slots.back();
    group.slots.pop_back();
    if (last != &slot) {  // it takes the free position
      group.slots[each.position] = last;
      for (Membership& other : last->memberships) {
        if (other.group == &group) other.position = each.position;
      }
    }
    if (group.slots.empty()) {
      ByText<Group>& groups = indexes_[each.index].groups;
      groups.erase(groups.find(group.value));
    }
    return true;
  });
}

}  // namespace cox::sdk
