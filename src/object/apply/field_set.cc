// SPDX-License-Identifier: Apache-2.0
#include "object/apply/field_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cox::apply {

FieldSet::FieldSet() = default;
FieldSet::FieldSet(const FieldSet& other) = default;
FieldSet::FieldSet(FieldSet&& other) noexcept = default;
FieldSet::~FieldSet() = default;

FieldSet& FieldSet::operator=(FieldSet other) noexcept {
  entries_.swap(other.entries_);
  return *this;
}

FieldSet::FieldSet(std::initializer_list<Path> paths) {
  for (const Path& path : paths) Insert(path);
}

size_t FieldSet::Size() const {
  size_t n = 0;
  for (const Entry& e : entries_) n += (e.member ? 1 : 0) + e.children.Size();
  return n;
}

const FieldSet::Entry* FieldSet::Find(const PathElement& element) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), element,
                             [](const Entry& e, const PathElement& x) { return e.element < x; });
  return at != entries_.end() && at->element == element ? &*at : nullptr;
}

const FieldSet::Entry* FieldSet::FindField(std::string_view name) const {
  auto at = std::lower_bound(
      entries_.begin(), entries_.end(), name,
      [](const Entry& e, std::string_view n) { return PathElement::Compare(e.element, n) < 0; });
  return at != entries_.end() && PathElement::Compare(at->element, name) == 0 ? &*at : nullptr;
}

FieldSet::Entry& FieldSet::Ensure(const PathElement& element) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), element,
                             [](const Entry& e, const PathElement& x) { return e.element < x; });
  if (at == entries_.end() || at->element != element)
    at = entries_.insert(at, Entry{element, false, {}});
  return *at;
}

void FieldSet::Insert(std::span<const PathElement> path) {
  FieldSet* level = this;
  for (size_t i = 0; i + 1 < path.size(); ++i) level = &level->Ensure(path[i]).children;
  level->Ensure(path.back()).member = true;
}

bool FieldSet::Has(std::span<const PathElement> path) const {
  const FieldSet* level = this;
  const Entry* entry = nullptr;
  for (const PathElement& element : path) {
    if ((entry = level->Find(element)) == nullptr) return false;
    level = &entry->children;
  }
  return entry != nullptr && entry->member;
}

void FieldSet::Append(PathElement element, bool member, FieldSet children) {
  if (!member && children.Empty()) return;
  entries_.push_back(Entry{std::move(element), member, std::move(children)});
}

// Traverses two sets in parallel. `combine` gets the two entries of each element (either may be
// null) and returns the content of the result.
template <class Combine>
FieldSet FieldSet::Walk(const FieldSet& a, const FieldSet& b, Combine combine) {
  FieldSet result;
  auto x = a.entries_.begin();
  auto y = b.entries_.begin();
  auto take = [&](const Entry* left, const Entry* right) {
    auto [member, children] = combine(left, right);
    result.Append(left != nullptr ? left->element : right->element, member, std::move(children));
  };
  while (x != a.entries_.end() || y != b.entries_.end()) {
    std::strong_ordering order = x == a.entries_.end()   ? std::strong_ordering::greater
                                 : y == b.entries_.end() ? std::strong_ordering::less
                                                         : x->element <=> y->element;
    take(order <= 0 ? &*x : nullptr, order >= 0 ? &*y : nullptr);
    if (order <= 0) ++x;
    if (order >= 0) ++y;
  }
  return result;
}

template <class Change>
void FieldSet::Narrow(const FieldSet& other, Change change) {
  auto theirs = other.entries_.begin();
  auto kept = entries_.begin();
  for (auto own = entries_.begin(); own != entries_.end(); ++own) {
    while (theirs != other.entries_.end() && theirs->element < own->element) ++theirs;
    if (theirs != other.entries_.end() && theirs->element == own->element) {
      change(*own, *theirs);
      if (!own->member && own->children.Empty()) continue;
    }
    if (kept != own) *kept = std::move(*own);
    ++kept;
  }
  entries_.erase(kept, entries_.end());
}

FieldSet FieldSet::Union(FieldSet other) && {
  if (Empty()) return other;
  if (other.Empty()) return std::move(*this);
  FieldSet result;
  result.entries_.reserve(entries_.size() + other.entries_.size());
  auto x = entries_.begin();
  auto y = other.entries_.begin();
  while (x != entries_.end() && y != other.entries_.end()) {
    const std::strong_ordering order = x->element <=> y->element;
    if (order == 0) {
      x->member = x->member || y->member;
      x->children = std::move(x->children).Union(std::move(y->children));
      ++y;
    }
    result.entries_.push_back(std::move(order <= 0 ? *x++ : *y++));
  }
  std::move(x, entries_.end(), std::back_inserter(result.entries_));
  std::move(y, other.entries_.end(), std::back_inserter(result.entries_));
  return result;
}

FieldSet FieldSet::Difference(const FieldSet& other) && {
  Narrow(other, [](Entry& own, const Entry& theirs) {
    own.member = own.member && !theirs.member;
    own.children = std::move(own.children).Difference(theirs.children);
  });
  return std::move(*this);
}

FieldSet FieldSet::RecursiveDifference(const FieldSet& other) && {
  Narrow(other, [](Entry& own, const Entry& theirs) {
    own.member = own.member && !theirs.member;
    own.children =
        theirs.member ? FieldSet() : std::move(own.children).RecursiveDifference(theirs.children);
  });
  return std::move(*this);
}

FieldSet FieldSet::Union(const FieldSet& other) const& {
  return Walk(*this, other, [](const Entry* a, const Entry* b) -> std::pair<bool, FieldSet> {
    if (a == nullptr) return {b->member, b->children};
    if (b == nullptr) return {a->member, a->children};
    return {a->member || b->member, a->children.Union(b->children)};
  });
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  return Walk(*this, other, [](const Entry* a, const Entry* b) -> std::pair<bool, FieldSet> {
    if (a == nullptr || b == nullptr) return {false, {}};
    return {a->member && b->member, a->children.Intersection(b->children)};
  });
}

FieldSet FieldSet::Difference(const FieldSet& other) const& {
  return Walk(*this, other, [](const Entry* a, const Entry* b) -> std::pair<bool, FieldSet> {
    if (a == nullptr) return {false, {}};
    if (b == nullptr) return {a->member, a->children};
    return {a->member && !b->member, a->children.Difference(b->children)};
  });
}

FieldSet FieldSet::RecursiveDifference(const FieldSet& other) const& {
  return Walk(*this, other, [](const Entry* a, const Entry* b) -> std::pair<bool, FieldSet> {
    if (a == nullptr || (b != nullptr && b->member)) return {false, {}};
    if (b == nullptr) return {a->member, a->children};
    return {a->member, a->children.RecursiveDifference(b->children)};
  });
}

FieldSet FieldSet::Leaves() const {
  FieldSet result;
  for (const Entry& e : entries_) {
    result.Append(e.element, e.member && e.children.Empty(), e.children.Leaves());
  }
  return result;
}

void FieldSet::ForEach(const std::function<void(const Path&)>& visit) const {
  Path path;
  Visit(&path, visit);
}

void FieldSet::Visit(Path* path, const std::function<void(const Path&)>& visit) const {
  for (const Entry& e : entries_) {
    if (!e.member) continue;
    path->push_back(e.element);
    visit(*path);
    path->pop_back();
  }
  for (const Entry& e : entries_) {
    if (e.children.Empty()) continue;
    path->push_back(e.element);
    e.children.Visit(path, visit);
    path->pop_back();
  }
}

bool operator==(const FieldSet& a, const FieldSet& b) {
  return std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(), b.entries_.end(),
                    [](const FieldSet::Entry& x, const FieldSet::Entry& y) {
                      return x.member == y.member && x.element == y.element &&
                             x.children == y.children;
                    });
}

}  // namespace cox::apply
