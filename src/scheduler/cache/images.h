// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/core/v1.h"
#include "scheduler/cache/node_info.h"

namespace cox::scheduler {

// "nginx" -> "nginx:latest": as nodes name their images.
std::string NormalizedImageName(std::string_view name);

// Which node has which image, a bit for each node.
class Images {
 public:
  struct Image {
    int64_t size = 0;
    size_t nodes = 0;
    std::vector<bool> on;  // by node

    bool On(NodeIndex node) const { return node < on.size() && on[node]; }
  };

  // Null if no node has it.
  const Image* Find(const std::string& normalized_name) const;
  // True if that changed anything.
  bool Set(NodeIndex node, const core::v1::Node* before, const core::v1::Node* after);

 private:
  void Add(NodeIndex node, const core::v1::Node& object);
  void Remove(NodeIndex node, const core::v1::Node& object);

  std::unordered_map<std::string, Image> images_;
};

}  // namespace cox::scheduler
