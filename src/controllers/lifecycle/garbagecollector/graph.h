// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/meta/v1.h"
#include "base/mutex.h"
#include "controllers/lifecycle/garbagecollector/identity.h"

namespace cox::controllers::gc {

// The uids to enqueue because of a change.
struct Effects {
  std::vector<std::string> to_delete;  // may have lost its owners, or waits for its dependents
  std::vector<std::string> to_orphan;  // its dependents have to be orphaned
  std::vector<Identity> gone;          // deleted objects that have dependents
};

// The owner references of all objects of the cluster, indexed by uid.
//
//   informers ──Observe, Forget──▶ graph ──Effects──▶ queues ──▶ Collector, which calls FindNode
//
// An owner that is referenced but was not observed is a virtual node: only its uid and its
// dependents are stored. An owner that is deleted becomes a virtual node as long as dependents
// reference it.
//
// Costs: about 400 bytes for each object with an owner. An update takes time linear in the object's
//   owners, the deletion of an owner time linear in its dependents.
// Threads: all methods may be called concurrently. No I/O.
class Graph {
 public:
  Graph() = default;
  ~Graph();

  // Adds or updates an object.
  Effects Observe(const GroupVersionKind& gvk, const meta::v1::ObjectMeta& meta);
  // Removes an object.
  Effects Forget(std::string_view uid);

  struct View {
    Identity identity;
    bool observed = false;             // false: virtual
    bool deleting = false;             // has a deletionTimestamp
    bool deleting_dependents = false;  // foreground deletion: waits for blocking dependents
    bool orphaning = false;            // waits until its dependents are orphaned
    bool has_dependents = false;
    // All owners were observed under the referenced coordinates, and none waits for its dependents,
    // so the collector has nothing to do.
    bool settled = true;
  };
  // Empty if the graph has no such node.
  std::optional<View> FindNode(std::string_view uid) const;

  struct Dependent {
    Identity identity;
    bool deleting = false;
    bool deleting_dependents = false;
    bool blocks = false;  // the owner's foreground deletion waits for it
  };
  std::vector<Dependent> DependentsOf(std::string_view uid) const;

  // Returns the uids of all observed objects of a kind, in any of its versions.
  std::vector<std::string> OfKind(const GroupVersionKind& gvk) const;

  size_t size() const;

 private:
  struct Node;
  // One owner reference.
  struct Edge {
    Node* owner = nullptr;
    const GroupVersionKind* gvk = nullptr;
    std::string name;
    bool blocks = false;
  };
  struct Node {
    std::string uid;
    const GroupVersionKind* gvk = nullptr;  // null: virtual
    const std::string* ns = nullptr;
    std::string name;
    std::vector<Edge> owners;
    std::unique_ptr<std::unordered_set<Node*>> dependents;  // null: none
    bool deleting = false;
    bool deleting_dependents = false;
    bool orphaning = false;
  };

  static bool Matches(const Node& dependent, const Edge& edge);
  static bool IsSettled(const Node& node);
  static const Edge* EdgeTo(const Node& dependent, const Node& owner);
  Node& Ensure(std::string_view uid) COX_REQUIRES(mu_);
  const Node* Find(std::string_view uid) const COX_REQUIRES(mu_);
  std::vector<Edge> EdgesOf(const meta::v1::ObjectMeta& meta) COX_REQUIRES(mu_);
  void SetOwners(Node& node, std::vector<Edge> edges, Effects& effects) COX_REQUIRES(mu_);
  void SetState(Node& node, const meta::v1::ObjectMeta& meta, Effects& effects) COX_REQUIRES(mu_);
  // Deletes a virtual node that has no dependents.
  void DropIfUnused(Node& node) COX_REQUIRES(mu_);
  Identity IdentityOf(const Node& node) const COX_REQUIRES(mu_);

  mutable Mutex mu_;
  // The keys point into the nodes.
  std::unordered_map<std::string_view, std::unique_ptr<Node>> nodes_ COX_GUARDED_BY(mu_);
  // Interned, because few values are shared by many nodes.
  std::set<GroupVersionKind> kinds_ COX_GUARDED_BY(mu_);
  std::set<std::string, std::less<>> namespaces_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::controllers::gc
