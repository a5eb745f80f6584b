// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/garbagecollector/graph.h"

#include <algorithm>

#include "controllers/lifecycle/garbagecollector/decide.h"
#include "object/owner.h"

namespace cox::controllers::gc {

using meta::v1::ObjectMeta;
using meta::v1::OwnerReference;

Graph::~Graph() = default;

// The version is not compared. A namespaced owner must be in its dependent's namespace.
bool Graph::Matches(const Node& dependent, const Edge& edge) {
  const Node& owner = *edge.owner;
  return owner.gvk != nullptr && owner.gvk->group == edge.gvk->group &&
         owner.gvk->kind == edge.gvk->kind && owner.name == edge.name &&
         (owner.ns->empty() || *owner.ns == *dependent.ns);
}

bool Graph::IsSettled(const Node& node) {
  return std::all_of(node.owners.begin(), node.owners.end(), [&node](const Edge& edge) {
    return Matches(node, edge) && !edge.owner->deleting_dependents;
  });
}

const Graph::Edge* Graph::EdgeTo(const Node& dependent, const Node& owner) {
  const auto found = std::find_if(dependent.owners.begin(), dependent.owners.end(),
                                  [&owner](const Edge& edge) { return edge.owner == &owner; });
  return found == dependent.owners.end() ? nullptr : &*found;
}

const Graph::Node* Graph::Find(std::string_view uid) const {
  const auto found = nodes_.find(uid);
  return found == nodes_.end() ? nullptr : found->second.get();
}

Graph::Node& Graph::Ensure(std::string_view uid) {
  const auto found = nodes_.find(uid);
  if (found != nodes_.end()) return *found->second;
  auto node = std::make_unique<Node>();
  node->uid = uid;
  const std::string_view key = node->uid;
  return *nodes_.emplace(key, std::move(node)).first->second;
}

void Graph::DropIfUnused(Node& node) {
  if (node.gvk == nullptr && node.dependents == nullptr) nodes_.erase(nodes_.find(node.uid));
}

// Duplicate references to an owner are merged; the edge blocks if one of them blocks.
std::vector<Graph::Edge> Graph::EdgesOf(const ObjectMeta& meta) {
  std::vector<Edge> edges;
  edges.reserve(meta.ownerReferences.size());
  for (const OwnerReference& reference : meta.ownerReferences) {
    Node& owner = Ensure(reference.uid);
    const bool blocks = reference.blockOwnerDeletion.value_or(false);
    const auto same = std::find_if(edges.begin(), edges.end(),
                                   [&owner](const Edge& edge) { return edge.owner == &owner; });
    if (same != edges.end()) {
      same->blocks = same->blocks || blocks;
      continue;
    }
    edges.push_back({.owner = &owner,
                     .gvk = &*kinds_.insert(GvkOfReference(reference)).first,
                     .name = reference.name,
                     .blocks = blocks});
  }
  return edges;
}

void Graph::SetOwners(Node& node, std::vector<Edge> edges, Effects& effects) {
  const std::vector<Edge> before = std::exchange(node.owners, std::move(edges));
  for (const Edge& edge : node.owners) {
    auto& dependents = edge.owner->dependents;
    if (dependents == nullptr) dependents = std::make_unique<std::unordered_set<Node*>>();
    dependents->insert(&node);
  }
  for (const Edge& old : before) {
    const Edge* now = EdgeTo(node, *old.owner);
    // This dependent may have been the last one that blocks the owner.
    if (old.blocks && old.owner->deleting_dependents && (now == nullptr || !now->blocks)) {
      effects.to_delete.push_back(old.owner->uid);
    }
    if (now != nullptr) continue;
    auto& dependents = old.owner->dependents;
    dependents->erase(&node);
    if (dependents->empty()) dependents.reset();
    DropIfUnused(*old.owner);
  }
}

void Graph::SetState(Node& node, const ObjectMeta& meta, Effects& effects) {
  node.deleting = meta.deletionTimestamp.has_value();
  const bool foreground = node.deleting && HasFinalizer(meta, kForegroundFinalizer);
  const bool orphan = node.deleting && HasFinalizer(meta, kOrphanFinalizer);
  if (foreground && !std::exchange(node.deleting_dependents, foreground)) {
    effects.to_delete.push_back(node.uid);
    if (node.dependents != nullptr) {
      for (const Node* dependent : *node.dependents) effects.to_delete.push_back(dependent->uid);
    }
  }
  node.deleting_dependents = foreground;
  if (orphan && !node.orphaning) effects.to_orphan.push_back(node.uid);
  node.orphaning = orphan;
}

Effects Graph::Observe(const GroupVersionKind& gvk, const ObjectMeta& meta) {
  Effects effects;
  MutexLock lock(mu_);
  Node& node = Ensure(meta.uid);
  const bool is_new = node.gvk == nullptr;
  node.gvk = &*kinds_.insert(gvk).first;
  node.ns = &*namespaces_.insert(meta.namespace_).first;
  node.name = meta.name;
  const bool owned = !node.owners.empty() || !meta.ownerReferences.empty();
  if (owned) SetOwners(node, EdgesOf(meta), effects);
  SetState(node, meta, effects);
  // Dependents whose references do not match the object's coordinates have no such owner.
  if (is_new && node.dependents != nullptr) {
    for (const Node* dependent : *node.dependents) {
      const Edge* edge = EdgeTo(*dependent, node);
      if (!Matches(*dependent, *edge)) effects.to_delete.push_back(dependent->uid);
    }
  }
  if (owned && !IsSettled(node)) effects.to_delete.push_back(node.uid);
  return effects;
}

Effects Graph::Forget(std::string_view uid) {
  Effects effects;
  MutexLock lock(mu_);
  const auto found = nodes_.find(uid);
  if (found == nodes_.end()) return effects;
  Node& node = *found->second;
  for (const Edge& edge : node.owners) {
    if (edge.owner->deleting_dependents) effects.to_delete.push_back(edge.owner->uid);
  }
  Effects unblocked;  // discarded: the same owners
  SetOwners(node, {}, unblocked);
  if (node.dependents != nullptr) {
    for (const Node* dependent : *node.dependents) effects.to_delete.push_back(dependent->uid);
    if (node.gvk != nullptr) effects.gone.push_back(IdentityOf(node));
  }
  node.gvk = nullptr;
  node.deleting = node.deleting_dependents = node.orphaning = false;
  DropIfUnused(node);
  return effects;
}

Identity Graph::IdentityOf(const Node& node) const {
  Identity identity;
  if (node.gvk != nullptr) {
    identity.gvk = *node.gvk;
    identity.key = {*node.ns, node.name};
  }
  identity.uid = node.uid;
  return identity;
}

std::optional<Graph::View> Graph::FindNode(std::string_view uid) const {
  MutexLock lock(mu_);
  const Node* node = Find(uid);
  if (node == nullptr) return std::nullopt;
  return View{.identity = IdentityOf(*node),
              .observed = node->gvk != nullptr,
              .deleting = node->deleting,
              .deleting_dependents = node->deleting_dependents,
              .orphaning = node->orphaning,
              .has_dependents = node->dependents != nullptr,
              .settled = IsSettled(*node)};
}

std::vector<Graph::Dependent> Graph::DependentsOf(std::string_view uid) const {
  std::vector<Dependent> out;
  MutexLock lock(mu_);
  const Node* owner = Find(uid);
  if (owner == nullptr || owner->dependents == nullptr) return out;
  for (const Node* node : *owner->dependents) {
    const Edge* edge = EdgeTo(*node, *owner);
    out.push_back({.identity = IdentityOf(*node),
                   .deleting = node->deleting,
                   .deleting_dependents = node->deleting_dependents,
                   .blocks = edge->blocks});
  }
  return out;
}

std::vector<std::string> Graph::OfKind(const GroupVersionKind& gvk) const {
  std::vector<std::string> uids;
  MutexLock lock(mu_);
  for (const auto& [uid, node] : nodes_) {
    const bool is =
        node->gvk != nullptr && node->gvk->group == gvk.group && node->gvk->kind == gvk.kind;
    if (is) uids.emplace_back(uid);
  }
  return uids;
}

size_t Graph::size() const {
  MutexLock lock(mu_);
  return nodes_.size();
}

}  // namespace cox::controllers::gc
