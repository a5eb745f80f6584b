// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/key_tree.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace cox::storage {
namespace {

// Wide enough for a low tree, narrow enough that copying a node (one refcount per child) takes less
// than a microsecond.
constexpr size_t kMax = 32;
// A node with fewer children is merged with a neighbor, or takes children from it.
constexpr size_t kMin = 8;
// A merged node has at most this many children, so that the next insertion does not split it again.
constexpr size_t kJoined = 24;
// The fill of nodes built from sorted entries: dense, with room for a few insertions.
constexpr size_t kFill = 28;

// Epochs are never reused, so that no two trees own the same node.
uint64_t NextEpoch() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Copies a vector with capacity for the maximum number of children.
template <class T>
std::vector<T> CopyWithRoom(const std::vector<T>& from) {
  std::vector<T> copy;
  copy.reserve(kMax + 1);
  copy.assign(from.begin(), from.end());
  return copy;
}

template <class T>
void MoveTail(std::vector<T>& from, size_t at, std::vector<T>& to) {
  to.reserve(kMax + 1);
  to.insert(to.end(), std::move_iterator(from.begin() + static_cast<std::ptrdiff_t>(at)),
            std::move_iterator(from.end()));
  from.resize(at);
}

// Moves elements between two neighbors so that `left` has `want`.
template <class T>
void Balance(std::vector<T>& left, std::vector<T>& right, size_t want) {
  if (left.size() < want) {
    const auto end = right.begin() + static_cast<std::ptrdiff_t>(want - left.size());
    left.insert(left.end(), std::move_iterator(right.begin()), std::move_iterator(end));
    right.erase(right.begin(), end);
  } else {
    const auto begin = left.begin() + static_cast<std::ptrdiff_t>(want);
    right.insert(right.begin(), std::move_iterator(begin), std::move_iterator(left.end()));
    left.erase(begin, left.end());
  }
}

}  // namespace

struct KeyTree::Node {
  Node(uint64_t epoch, bool leaf) : epoch(epoch), leaf(leaf) {}
  const uint64_t epoch;
  const bool leaf;
};

struct KeyTree::Leaf : Node {
  explicit Leaf(uint64_t epoch) : Node(epoch, true) {}
  Leaf(uint64_t epoch, const Leaf& other)
      : Node(epoch, true), entries(CopyWithRoom(other.entries)) {}

  // The index of the first entry not less than `key`.
  size_t LowerBound(std::string_view key) const {
    const auto at = std::lower_bound(
        entries.begin(), entries.end(), key,
        [](const EntryPtr& entry, std::string_view key) { return entry->key() < key; });
    return static_cast<size_t>(at - entries.begin());
  }
  bool Has(size_t at, std::string_view key) const {
    return at < entries.size() && entries[at]->key() == key;
  }

  std::vector<EntryPtr> entries;
};

struct KeyTree::Inner : Node {
  struct Child {
    NodePtr node;
    size_t count;  // number of entries below
    // Lower bound of the keys below; all keys of preceding children are less. Unused for the first
    // child, where the parent's bound applies.
    Bytes low;
  };

  explicit Inner(uint64_t epoch) : Node(epoch, false) {}
  Inner(uint64_t epoch, const Inner& other)
      : Node(epoch, false), children(CopyWithRoom(other.children)) {}

  // The index of the child that contains `key`.
  size_t IndexOf(std::string_view key) const {
    const auto at = std::upper_bound(
        children.begin() + 1, children.end(), key,
        [](std::string_view key, const Child& child) { return key < child.low.view(); });
    return static_cast<size_t>(at - children.begin()) - 1;
  }
  size_t Total() const {
    size_t total = 0;
    for (const Child& child : children) total += child.count;
    return total;
  }

  std::vector<Child> children;
};

// Edits a tree: every node it changes has the tree's epoch, or is replaced by a copy that has.
struct KeyTree::Editor {
  using Child = Inner::Child;
  const uint64_t epoch;

  static const Leaf& AsLeaf(const NodePtr& node) { return static_cast<const Leaf&>(*node); }
  static const Inner& AsInner(const NodePtr& node) { return static_cast<const Inner&>(*node); }
  static size_t CountOf(const NodePtr& node) {
    if (node == nullptr) return 0;
    return node->leaf ? AsLeaf(node).entries.size() : AsInner(node).Total();
  }
  static size_t WidthOf(const NodePtr& node) {
    return node->leaf ? AsLeaf(node).entries.size() : AsInner(node).children.size();
  }

  Leaf& OwnLeaf(NodePtr& node) const {
    if (node->epoch != epoch) node = std::make_shared<Leaf>(epoch, AsLeaf(node));
    return static_cast<Leaf&>(*node);
  }
  Inner& OwnInner(NodePtr& node) const {
    if (node->epoch != epoch) node = std::make_shared<Inner>(epoch, AsInner(node));
    return static_cast<Inner&>(*node);
  }

  // Returns the previous entry of the key. Sets `split` to the new right neighbor, if any.
  EntryPtr Put(NodePtr& node, EntryPtr entry, Child& split) const;
  EntryPtr Erase(NodePtr& node, std::string_view key) const;
  EntryPtr PutInLeaf(NodePtr& node, EntryPtr entry, Child& split) const;
  // Children `left` and `left` + 1 are narrow: merges them, or balances their widths.
  void Join(Inner& parent, size_t left) const;
  NodePtr Root(std::vector<Child> level) const;
};

EntryPtr KeyTree::Editor::PutInLeaf(NodePtr& node, EntryPtr entry, Child& split) const {
  Leaf& leaf = OwnLeaf(node);
  const size_t at = leaf.LowerBound(entry->key());
  if (leaf.Has(at, entry->key())) return std::exchange(leaf.entries[at], std::move(entry));
  leaf.entries.insert(leaf.entries.begin() + static_cast<std::ptrdiff_t>(at), std::move(entry));
  const size_t width = leaf.entries.size();
  if (width <= kMax) return nullptr;
  auto right = std::make_shared<Leaf>(epoch);
  // For keys inserted in order, leave full leaves behind.
  MoveTail(leaf.entries, at + 1 == width ? kMax : width / 2, right->entries);
  split = {right, right->entries.size(), Bytes::Copy(right->entries.front()->key())};
  return nullptr;
}

EntryPtr KeyTree::Editor::Put(NodePtr& node, EntryPtr entry, Child& split) const {
  if (node->leaf) return PutInLeaf(node, std::move(entry), split);
  Inner& inner = OwnInner(node);
  const size_t at = inner.IndexOf(entry->key());
  Child right;
  EntryPtr before = Put(inner.children[at].node, std::move(entry), right);
  if (before == nullptr) ++inner.children[at].count;
  if (right.node == nullptr) return before;
  inner.children[at].count -= right.count;
  inner.children.insert(inner.children.begin() + static_cast<std::ptrdiff_t>(at + 1),
                        std::move(right));
  const size_t width = inner.children.size();
  if (width <= kMax) return before;
  auto half = std::make_shared<Inner>(epoch);
  MoveTail(inner.children, at + 2 == width ? kMax : width / 2, half->children);
  split = {half, half->Total(), half->children.front().low};
  return before;
}

EntryPtr KeyTree::Editor::Erase(NodePtr& node, std::string_view key) const {
  if (node->leaf) {
    const size_t at = AsLeaf(node).LowerBound(key);
    if (!AsLeaf(node).Has(at, key)) return nullptr;
    Leaf& leaf = OwnLeaf(node);
    EntryPtr before = std::move(leaf.entries[at]);
    leaf.entries.erase(leaf.entries.begin() + static_cast<std::ptrdiff_t>(at));
    return before;
  }
  Inner& inner = OwnInner(node);
  const size_t at = inner.IndexOf(key);
  EntryPtr before = Erase(inner.children[at].node, key);
  if (before == nullptr) return nullptr;
  --inner.children[at].count;
  // An inner node always has at least two children, except during this function.
  if (WidthOf(inner.children[at].node) < kMin && inner.children.size() > 1) {
    Join(inner, at + 1 < inner.children.size() ? at : at - 1);
  }
  return before;
}

void KeyTree::Editor::Join(Inner& parent, size_t left) const {
  Child& a = parent.children[left];
  Child& b = parent.children[left + 1];
  const size_t width = WidthOf(a.node) + WidthOf(b.node);
  const size_t want = width <= kJoined ? width : width / 2;
  if (a.node->leaf) {
    Leaf& right = OwnLeaf(b.node);
    Balance(OwnLeaf(a.node).entries, right.entries, want);
    if (want < width) b.low = Bytes::Copy(right.entries.front()->key());
  } else {
    Inner& right = OwnInner(b.node);
    right.children.front().low = b.low;  // it may no longer be the first
    Balance(OwnInner(a.node).children, right.children, want);
    if (want < width) b.low = right.children.front().low;
  }
  a.count = CountOf(a.node);
  b.count = CountOf(b.node);
  if (want == width) {
    parent.children.erase(parent.children.begin() + static_cast<std::ptrdiff_t>(left + 1));
  }
}

KeyTree::NodePtr KeyTree::Editor::Root(std::vector<Child> level) const {
  while (level.size() > 1) {
    // Equal shares, so that the last node is not too narrow.
    const size_t nodes = (level.size() + kFill - 1) / kFill;
    std::vector<Child> above;
    above.reserve(nodes);
    for (size_t i = 0, begin = 0; i < nodes; ++i) {
      const size_t end = level.size() * (i + 1) / nodes;
      auto inner = std::make_shared<Inner>(epoch);
      inner->children.reserve(kMax + 1);
      for (; begin < end; ++begin) inner->children.push_back(std::move(level[begin]));
      above.push_back({inner, inner->Total(), inner->children.front().low});
    }
    level = std::move(above);
  }
  return std::move(level.front().node);
}

KeyTree KeyTree::FromSorted(const std::vector<EntryPtr>& entries) {
  KeyTree tree;
  tree.epoch_ = NextEpoch();
  if (entries.empty()) return tree;
  const size_t leaves = (entries.size() + kFill - 1) / kFill;
  std::vector<Inner::Child> level;
  level.reserve(leaves);
  for (size_t i = 0; i < leaves; ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(entries.size() * i / leaves);
    const auto end = static_cast<std::ptrdiff_t>(entries.size() * (i + 1) / leaves);
    auto leaf = std::make_shared<Leaf>(tree.epoch_);
    leaf->entries.reserve(kMax + 1);
    leaf->entries.assign(entries.begin() + begin, entries.begin() + end);
    level.push_back({leaf, leaf->entries.size(), Bytes::Copy(leaf->entries.front()->key())});
  }
  tree.root_ = Editor{tree.epoch_}.Root(std::move(level));
  return tree;
}

KeyTree KeyTree::Share() {
  KeyTree state;
  state.root_ = root_;
  epoch_ = NextEpoch();
  return state;
}

KeyTree KeyTree::Fork() const {
  KeyTree fork;
  fork.root_ = root_;
  fork.epoch_ = NextEpoch();
  return fork;
}

size_t KeyTree::size() const { return Editor::CountOf(root_); }

EntryPtr KeyTree::Find(std::string_view key) const {
  if (root_ == nullptr) return nullptr;
  const Node* node = root_.get();
  while (!node->leaf) {
    const auto& inner = static_cast<const Inner&>(*node);
    node = inner.children[inner.IndexOf(key)].node.get();
  }
  const auto& leaf = static_cast<const Leaf&>(*node);
  const size_t at = leaf.LowerBound(key);
  return leaf.Has(at, key) ? leaf.entries[at] : nullptr;
}

EntryPtr KeyTree::Put(EntryPtr entry) {
  if (epoch_ == 0) epoch_ = NextEpoch();
  if (root_ == nullptr) {
    auto leaf = std::make_shared<Leaf>(epoch_);
    leaf->entries.reserve(kMax + 1);
    leaf->entries.push_back(std::move(entry));
    root_ = std::move(leaf);
    return nullptr;
  }
  Inner::Child split;
  EntryPtr before = Editor{epoch_}.Put(root_, std::move(entry), split);
  if (split.node != nullptr) {
    auto top = std::make_shared<Inner>(epoch_);
    top->children.reserve(kMax + 1);
    const size_t count = Editor::CountOf(root_);
    top->children.push_back({std::move(root_), count, {}});
    top->children.push_back(std::move(split));
    root_ = std::move(top);
  }
  return before;
}

EntryPtr KeyTree::Erase(std::string_view key) {
  // Search first, so that a missing key does not copy nodes.
  if (Find(key) == nullptr) return nullptr;
  if (epoch_ == 0) epoch_ = NextEpoch();
  EntryPtr before = Editor{epoch_}.Erase(root_, key);
  while (root_ != nullptr && Editor::WidthOf(root_) <= 1) {
    if (root_->leaf) {
      if (Editor::AsLeaf(root_).entries.empty()) root_ = nullptr;
      break;
    }
    // In two steps, so that the child is not freed together with its parent.
    NodePtr child = Editor::AsInner(root_).children.front().node;
    root_ = std::move(child);
  }
  return before;
}

size_t KeyTree::Rank(std::string_view key) const {
  size_t rank = 0;
  if (root_ == nullptr) return rank;
  const Node* node = root_.get();
  while (!node->leaf) {
    const auto& inner = static_cast<const Inner&>(*node);
    const size_t at = inner.IndexOf(key);
    for (size_t i = 0; i < at; ++i) rank += inner.children[i].count;
    node = inner.children[at].node.get();
  }
  return rank + static_cast<const Leaf&>(*node).LowerBound(key);
}

size_t KeyTree::Count(std::string_view prefix, std::string_view start) const {
  const std::string end = PrefixEnd(prefix);
  const size_t above = end.empty() ? size() : Rank(end);
  const size_t below = Rank(std::max(prefix, start));
  return above > below ? above - below : 0;
}

namespace {

// Entries are scattered in memory; prefetching the next ones hides most of the latency.
constexpr size_t kAhead = 6;

}  // namespace

void KeyTree::Visit(std::string_view prefix, std::string_view start,
                    const std::function<bool(const EntryPtr&)>& visit) const {
  if (root_ == nullptr) return;
  const std::string_view first = std::max(prefix, start);
  // The path to the current leaf: the inner nodes, and the index of the next child of each.
  std::vector<std::pair<const Inner*, size_t>> way;
  const Node* node = root_.get();
  for (bool descending = true;;) {
    while (!node->leaf) {
      const auto* inner = static_cast<const Inner*>(node);
      const size_t at = descending ? inner->IndexOf(first) : 0;
      way.emplace_back(inner, at + 1);
      node = inner->children[at].node.get();
    }
    const std::vector<EntryPtr>& entries = static_cast<const Leaf*>(node)->entries;
    size_t at = descending ? static_cast<const Leaf*>(node)->LowerBound(first) : 0;
    descending = false;
    for (; at < entries.size(); ++at) {
      if (at + kAhead < entries.size()) __builtin_prefetch(entries[at + kAhead].get());
      if (!entries[at]->key().starts_with(prefix) || !visit(entries[at])) return;
    }
    while (!way.empty() && way.back().second == way.back().first->children.size()) way.pop_back();
    if (way.empty()) return;
    node = way.back().first->children[way.back().second++].node.get();
  }
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace cox::storage
