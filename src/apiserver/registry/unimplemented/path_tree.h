// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/field_lookup.h"
#include "object/type/type.h"

namespace cox::apiserver {

// A set of field paths of one type. Visit finds all values at these paths in one pass over the
// parts of an object that the paths name.
//
//   spec.type    spec.volumes[].csi    spec.containers[].resources.limits['hugepages-*']
//
// "[]" stands for every item of a list; a key that ends with '*' for every key with that prefix.
//
// Threads: Visit may be called concurrently.
class PathTree {
 public:
  // A value at a path. Valid during the call of the visitor.
  struct Match {
    int id;           // of the path
    FieldRef value;   // for a pointer, the object that it points to
    FieldRef parent;  // the struct, list or map that contains the value
    // The path of this value: "spec.volumes[1].csi".
    std::function<std::string()> path;
  };
  using Visitor = std::function<void(const Match&)>;

  explicit PathTree(const Type& type) { nodes_.push_back({.type = &type}); }

  // Errors: BadRequest if the path is malformed or does not exist in the type.
  Status Add(std::string_view path, int id);
  bool empty() const { return nodes_.size() == 1; }

  // Values that are absent, empty or false are not visited.
  void Visit(const void* object, const Visitor& visit) const;

 private:
  static constexpr int kNoPath = -1;

  // A step from a value to a value inside of it, and the values that continue from there.
  struct Node {
    const Type* type = nullptr;
    const Field* field = nullptr;  // a member of a struct
    std::string key = {};          // a key of a map; a list item has neither
    std::vector<size_t> children = {};
    std::vector<int> ids = {};  // of the paths that end here
  };
  // One step on the way to the visited value, with the steps before it.
  struct Trail {
    const Trail* outer;
    const Node* node;
    size_t index;  // of a list item
    std::string_view key;
  };

  size_t Step(size_t from, const Node& to);
  Result<size_t> AddSteps(size_t from, const std::vector<PathStep>& steps);
  void VisitNode(const Node& node, FieldRef parent, FieldRef value, const Trail* trail,
                 const Visitor& visit) const;
  void VisitChild(const Node& child, FieldRef value, const Trail* trail,
                  const Visitor& visit) const;
  static std::string Text(const Trail* trail);

  std::vector<Node> nodes_;  // the first is the root
};

}  // namespace cox::apiserver
