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

// What somebody has to look at because of a change: uids.
struct Effects {
  std::vector<std::string> to_delete;  // may have lost what keeps it, or waits for its dependents
  std::vector<std::string> to_orphan;  // has to let its dependents go
  std::vector<Identity> gone;          // was an owner, and is not there any more
};

// Who owns whom, of all objects of the cluster, by uid.
//
//   informers ──Observe, Forget──▶ graph ──Effects──▶ queues ──▶ Collector, which asks Look
//
// An owner that somebody names and that was not observed is a virtual node: it has dependents, and
// nothing else is known of it. An owner that goes away becomes one while dependents name it.
//
// Costs: about 400 bytes for an object with an owner; a change costs the number of its owners, the
//   end of an owner the number of its dependents.
// Threads: all methods may be called concurrently. No I/O.
class Graph {
 public:
  Graph() = default;
  ~Graph();

  // The object is there, as `meta` says.
  Effects Observe(const GroupVersionKind& gvk, const meta::v1::ObjectMeta& meta);
  // The object is gone.
  Effects Forget(std::string_view uid);

  struct View {
    Identity identity;
    bool observed = false;             // else virtual
    bool deleting = false;             // has a deletionTimestamp
    bool deleting_dependents = false;  // in the foreground: waits for those that block
    bool orphaning = false;            // waits until its dependents have let go of it
    bool has_dependents = false;
    // All its owners were observed where it says they are, and none waits for its dependents:
    // there is nothing to do about it.
    bool settled = true;
  };
  // None if there is no such object.
  std::optional<View> Look(std::string_view uid) const;

  struct Dependent {
    Identity identity;
    bool deleting = false;
    bool deleting_dependents = false;
    bool blocks = false;  // the owner's deletion in the foreground waits for it
  };
  std::vector<Dependent> DependentsOf(std::string_view uid) const;

  // The uids of all that were observed of a kind, in any of its versions.
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
  // A virtual node that nobody names is none.
  void DropIfUnused(Node& node) COX_REQUIRES(mu_);
  Identity IdentityOf(const Node& node) const COX_REQUIRES(mu_);

  mutable Mutex mu_;
  // The keys are the nodes' own.
  std::unordered_map<std::string_view, std::unique_ptr<Node>> nodes_ COX_GUARDED_BY(mu_);
  // Kept once: there are few of them, and many nodes.
  std::set<GroupVersionKind> kinds_ COX_GUARDED_BY(mu_);
  std::set<std::string, std::less<>> namespaces_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::controllers::gc
