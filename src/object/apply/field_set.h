// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "object/apply/path.h"

namespace cox::apply {

// A set of paths: the fields of an object that a manager owns, changes or applies.
//
// Stored as a tree with sorted nodes, so that an operation on two sets is one traversal of both. A
// path does not include the paths below it: {.a} and {.a.b} are different members.
//
// Threads: a plain value; copying is deep.
// Depth: operations recurse; the functions that create sets limit the depth (typed.h, fields_v1.h).
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

  // The rvalue overloads move the parts that the sets do not share, instead of copying them.
  FieldSet Union(const FieldSet& other) const&;
  FieldSet Union(FieldSet other) &&;
  FieldSet Intersection(const FieldSet& other) const;
  // The paths that are not in `other`.
  FieldSet Difference(const FieldSet& other) const&;
  FieldSet Difference(const FieldSet& other) &&;
  // The paths that are not in `other` and have no ancestor in `other`.
  FieldSet RecursiveDifference(const FieldSet& other) const&;
  FieldSet RecursiveDifference(const FieldSet& other) &&;
  // The paths without another path below them.
  FieldSet Leaves() const;

  // Calls `visit` for each path: first those of one level, then those below.
  void ForEach(const std::function<void(const Path&)>& visit) const;

  // The nodes, for traversal in parallel with a value or a type. Sorted by element.
  std::span<const Entry> entries() const;
  const Entry* Find(const PathElement& element) const;
  const Entry* FindField(std::string_view name) const;
  // Appends a node; an empty node is not added.
  // REQUIRES: `element` is greater than the existing ones.
  void Append(PathElement element, bool member, FieldSet children);

  friend bool operator==(const FieldSet& a, const FieldSet& b);

 private:
  Entry& Ensure(const PathElement& element);
  template <class Combine>
  static FieldSet Walk(const FieldSet& a, const FieldSet& b, Combine combine);
  // Calls `change` for each entry that `other` also contains, and drops entries that become empty.
  template <class Change>
  void Narrow(const FieldSet& other, Change change);
  void Visit(Path* path, const std::function<void(const Path&)>& visit) const;

  std::vector<Entry> entries_;
};

// One element of the paths in a set.
struct FieldSet::Entry {
  PathElement element;
  bool member = false;  // the path that ends here is in the set
  FieldSet children;    // the paths below
};

inline bool FieldSet::Empty() const { return entries_.empty(); }
inline std::span<const FieldSet::Entry> FieldSet::entries() const { return entries_; }

}  // namespace cox::apply
