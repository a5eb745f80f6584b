// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/node/node_graph.h"

#include <algorithm>

namespace cox::apiserver {
namespace {

// The position of the node in a list that is sorted by address.
template <class Nodes, class Node>
auto PlaceOf(Nodes& nodes, const Node* node) {
  return std::lower_bound(
      nodes.begin(), nodes.end(), node,
      [](const auto& entry, const Node* wanted) { return std::less<>()(entry.first, wanted); });
}

}  // namespace

// The type as the first byte, then "ns/name"; namespaces and names contain no slash.
std::string NodeGraph::KeyOf(NodeObject type, std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + name.size() + 2);
  key += static_cast<char>('a' + static_cast<int>(type));
  key.append(ns).append(1, '/').append(name);
  return key;
}

bool NodeGraph::IsOn(const Target& target, const Node* node) {
  const auto at = PlaceOf(target.nodes, node);
  return at != target.nodes.end() && at->first == node;
}

NodeGraph::TargetEntry* NodeGraph::Use(const NodeObjectRef& reference) {
  const auto [at, added] =
      targets_.try_emplace(KeyOf(reference.type, reference.ns, reference.name));
  ++at->second.uses;
  return &*at;
}

void NodeGraph::Release(TargetEntry* target) {
  if (--target->second.uses == 0) targets_.erase(targets_.find(target->first));
}

void NodeGraph::RemoveHolder(std::string_view key) {
  const auto found = holders_.find(key);
  if (found == holders_.end()) return;
  const Holder holder = std::move(found->second);
  holders_.erase(found);
  for (TargetEntry* target : holder.targets) {
    auto& nodes = target->second.nodes;
    const auto at = PlaceOf(nodes, static_cast<const Node*>(holder.node));
    if (--at->second == 0) nodes.erase(at);
    Release(target);
  }
  if (--holder.node->second == 0) nodes_.erase(nodes_.find(holder.node->first));
}

void NodeGraph::RemoveVolume(std::string_view key) {
  const auto found = volumes_.find(key);
  if (found == volumes_.end()) return;
  for (TargetEntry* secret : found->second.secrets) {
    auto& volumes = secret->second.volumes;
    volumes.erase(std::find(volumes.begin(), volumes.end(), &found->second));
    Release(secret);
  }
  Release(found->second.claim);
  volumes_.erase(found);
}

void NodeGraph::Put(const NodeObjectRef& holder, std::string_view node,
                    const std::vector<NodeObjectRef>& references) {
  std::string key = KeyOf(holder.type, holder.ns, holder.name);
  WriterLock lock(mu_);
  RemoveHolder(key);
  Node& on = *nodes_.try_emplace(std::string(node)).first;
  ++on.second;
  Holder& added = holders_[std::move(key)];
  added.node = &on;
  added.targets.reserve(references.size());
  for (const NodeObjectRef& reference : references) {
    TargetEntry* target = Use(reference);
    added.targets.push_back(target);
    auto& nodes = target->second.nodes;
    auto at = PlaceOf(nodes, static_cast<const Node*>(&on));
    if (at == nodes.end() || at->first != &on) at = nodes.insert(at, {&on, 0});
    ++at->second;
  }
}

void NodeGraph::PutVolume(const std::string& name, const NodeObjectRef& claim,
                          const std::vector<NodeObjectRef>& secrets) {
  const std::string key = KeyOf(NodeObject::kVolume, "", name);
  WriterLock lock(mu_);
  RemoveVolume(key);
  Volume& added = volumes_[key];
  added.claim = Use(claim);
  for (const NodeObjectRef& secret : secrets) {
    added.secrets.push_back(Use(secret));
    added.secrets.back()->second.volumes.push_back(&added);
  }
}

void NodeGraph::Remove(const NodeObjectRef& object) {
  const std::string key = KeyOf(object.type, object.ns, object.name);
  WriterLock lock(mu_);
  if (object.type == NodeObject::kVolume) return RemoveVolume(key);
  RemoveHolder(key);
}

void NodeGraph::RemoveUnless(NodeObject type,
                             const std::function<bool(std::string_view, std::string_view)>& keep) {
  WriterLock lock(mu_);
  std::vector<std::string> gone;
  auto look = [&](const std::string& key) {
    if (key.front() != KeyOf(type, "", "").front()) return;
    const size_t slash = key.find('/');
    const std::string_view text = key;
    if (!keep(text.substr(1, slash - 1), text.substr(slash + 1))) gone.push_back(key);
  };
  for (const auto& [key, holder] : holders_) look(key);
  for (const auto& [key, volume] : volumes_) look(key);
  for (const std::string& key : gone) {
    RemoveHolder(key);
    RemoveVolume(key);
  }
}

bool NodeGraph::Reaches(std::string_view node, NodeObject type, std::string_view ns,
                        std::string_view name) const {
  const std::string key = KeyOf(type, ns, name);
  ReaderLock lock(mu_);
  const auto known = nodes_.find(node);
  if (known == nodes_.end()) return false;
  const Node* on = &*known;
  if (type == NodeObject::kVolume) {
    const auto volume = volumes_.find(key);
    return volume != volumes_.end() && IsOn(volume->second.claim->second, on);
  }
  const auto holder = holders_.find(key);
  if (holder != holders_.end()) return holder->second.node == on;
  const auto target = targets_.find(key);
  if (target == targets_.end()) return false;
  const auto& volumes = target->second.volumes;
  return IsOn(target->second, on) ||
         std::any_of(volumes.begin(), volumes.end(),
                     [&](const Volume* volume) { return IsOn(volume->claim->second, on); });
}

NodeGraph::Sizes NodeGraph::sizes() const {
  ReaderLock lock(mu_);
  return {holders_.size(), targets_.size(), volumes_.size(), nodes_.size()};
}

}  // namespace cox::apiserver
