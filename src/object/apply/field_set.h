// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "object/apply/path.h"

namespace cox::apply {

// A set of paths: the fields of an object that somebody owns, changed or asks for.
//
// Kept as a tree whose nodes are sorted, so that operations on two sets are one walk over both.
// A path in the set says nothing of the paths below it: {.a} and {.a.b} are different members.
//
// Threads and ownership: a plain value; copying is deep.
// Depth: operations recurse; whoever makes sets bounds their depth (typed.h, fields_v1.h).
class FieldSet {
 public:
  struct Entry;

  FieldSet();
  FieldSet(std::initializer_list<Path> paths);
  FieldSet(const FieldSet& other);
  FieldSet(FieldSet&& other) noexcept;
  FieldSet& operator=(FieldSet other) noexcept;
  ~FieldSet();

  bool Empty() const;
  // The number of paths.
  size_t Size() const;

  // REQUIRES: path is not empty.
  void Insert(std::span<const PathElement> path);
  bool Has(std::span<const PathElement> path) const;

  // Where the sets are not needed any more, what both do not share is moved and not copied.
  FieldSet Union(const FieldSet& other) const&;
  FieldSet Union(FieldSet other) &&;
  FieldSet Intersection(const FieldSet& other) const;
  // The paths that are not in `other`.
  FieldSet Difference(const FieldSet& other) const&;
  FieldSet Difference(const FieldSet& other) &&;
  // The paths that are not in `other` and have no ancestor in `other`.
  FieldSet RecursiveDifference(const FieldSet& other) const&;
  FieldSet RecursiveDifference(const FieldSet& other) &&;
  // The paths that have no path below them.
  FieldSet Leaves() const;

  // Calls `visit` with each path: those of one level first, then those below.
  void ForEach(const std::function<void(const Path&)>& visit) const;

  // Nodes, for those who walk a set beside a value or a type. Sorted by element.
  std::span<const Entry> entries() const;
  const Entry* Find(const PathElement& element) const;
  const Entry* FindField(std::string_view name) const;
  // Adds a node behind the others; one that holds nothing is not added.
  // REQUIRES: `element` is larger than those already here.
  void Append(PathElement element, bool member, FieldSet children);

  friend bool operator==(const FieldSet& a, const FieldSet& b);

 private:
  Entry& Ensure(const PathElement& element);
  template <class Combine>
  static FieldSet Walk(const FieldSet& a, const FieldSet& b, Combine combine);
  // Gives `change` each entry that `other` has too, and drops those that then hold nothing.
  template <class Change>
  void Narrow(const FieldSet& other, Change change);
  void Visit(Path* path, const std::function<void(const Path&)>& visit) const;

  std::vector<Entry> entries_;
};

// One step of the paths in a set.
struct FieldSet::Entry {
  PathElement element;
  bool member = false;  // the path that ends here is in the set
  FieldSet children;    // what is below
};

inline bool FieldSet::Empty() const { return entries_.empty(); }
inline std::span<const FieldSet::Entry> FieldSet::entries() const { return entries_; }

}  // namespace cox::apply
