// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/indexer.h"

#include <algorithm>

namespace cox::sdk {
namespace {

// Approximate map overhead per item.
constexpr size_t kNode = 96;

}  // namespace

Item Indexer::Get(std::string_view ns, std::string_view name) const {
  ReaderLock lock(mu_);
  const auto space = namespaces_.find(std::string(ns));
  if (space == namespaces_.end()) return {};
  const auto found = space->second.find(name);
  return found == space->second.end() ? Item() : found->second;
}

std::vector<Item> Indexer::List(std::string_view ns) const {
  std::vector<Item> out;
  ReaderLock lock(mu_);
  if (!ns.empty()) {
    const auto space = namespaces_.find(std::string(ns));
    if (space == namespaces_.end()) return out;
    out.reserve(space->second.size());
    for (const auto& [name, item] : space->second) out.push_back(item);
    return out;
  }
  out.reserve(size_);
  for (const auto& [name, space] : namespaces_) {
    for (const auto& [key, item] : space) out.push_back(item);
  }
  return out;
}

std::vector<Item> Indexer::Find(std::string_view index, std::string_view value) const {
  std::vector<Item> out;
  ReaderLock lock(mu_);
  for (const auto& [name, data] : indexes_) {
    if (name != index) continue;
    const auto found = data.items.find(std::string(value));
    if (found == data.items.end()) break;
    out.reserve(found->second.size());
    for (const Item* item : found->second) out.push_back(*item);
  }
  return out;
}

void Indexer::Visit(std::string_view index, std::string_view value,
                    const std::function<bool(const Item&)>& visit) const {
  ReaderLock lock(mu_);
  for (const auto& [name, data] : indexes_) {
    if (name != index) continue;
    const auto found = data.items.find(std::string(value));
    if (found == data.items.end()) return;
    for (const Item* item : found->second) {
      if (!visit(*item)) return;
    }
    return;
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

void Indexer::Put(Item item) {
  Values values;
  {
    ReaderLock lock(mu_);
    values = ValuesOf(item);
  }
  Item before;  // freed after the lock
  WriterLock lock(mu_);
  Namespace& space = namespaces_[std::string(item.ns())];
  const std::string_view name = item.name();
  const Item* kept = nullptr;
  bytes_ += item.bytes();
  if (auto node = space.extract(name)) {
    bytes_ -= node.mapped().bytes();
    before = std::exchange(node.mapped(), std::move(item));
    node.key() = name;  // the old item's storage is freed
    kept = &space.insert(std::move(node)).position->second;
  } else {
    kept = &space.emplace(name, std::move(item)).first->second;
    ++size_;
  }
  for (size_t i = 0; i < indexes_.size(); ++i) {
    indexes_[i].second.Put(kept, std::move(values[i]));
  }
}

void Indexer::Remove(std::string_view ns, std::string_view name) {
  Namespace::node_type node;  // freed after the lock
  WriterLock lock(mu_);
  const auto space = namespaces_.find(std::string(ns));
  if (space == namespaces_.end()) return;
  const auto found = space->second.find(name);
  if (found == space->second.end()) return;
  for (auto& [index, data] : indexes_) data.Remove(&found->second);
  bytes_ -= found->second.bytes();
  --size_;
  node = space->second.extract(found);
  if (space->second.empty()) namespaces_.erase(space);
}

void Indexer::AddIndex(std::string name, IndexFunction function) {
  Index index{.function = std::move(function), .items = {}, .values = {}};
  {
    ReaderLock lock(mu_);
    for (const auto& [ns, space] : namespaces_) {
      for (const auto& [key, item] : space) index.Put(&item, index.function(*form_.Read(item)));
    }
  }
  WriterLock lock(mu_);
  const auto same = std::find_if(indexes_.begin(), indexes_.end(),
                                 [&name](const auto& pair) { return pair.first == name; });
  if (same == indexes_.end()) {
    indexes_.emplace_back(std::move(name), std::move(index));
  } else {
    std::swap(same->second, index);
  }
}

Indexer::Values Indexer::ValuesOf(const Item& item) const {
  Values values;
  if (indexes_.empty()) return values;
  const ObjectPtr object = form_.Read(item);
  values.reserve(indexes_.size());
  for (const auto& [name, index] : indexes_) values.push_back(index.function(*object));
  return values;
}

void Indexer::Index::Put(const Item* item, std::vector<std::string> now) {
  const auto was = values.find(item);
  if (was != values.end() && was->second == now) return;
  Remove(item);
  for (const std::string& value : now) items[value].insert(item);
  if (!now.empty()) values.emplace(item, std::move(now));
}

void Indexer::Index::Remove(const Item* item) {
  const auto was = values.find(item);
  if (was == values.end()) return;
  for (const std::string& value : was->second) {
    const auto found = items.find(value);
    if (found == items.end()) continue;
    found->second.erase(item);
    if (found->second.empty()) items.erase(found);
  }
  values.erase(was);
}

}  // namespace cox::sdk
