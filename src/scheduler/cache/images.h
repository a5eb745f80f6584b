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

// "nginx" -> "nginx:latest", the format in node status.
std::string NormalizedImageName(std::string_view name);

// Images by name, with a bitmap of the nodes that have them.
class Images {
 public:
  struct Image {
    int64_t size = 0;
    size_t nodes = 0;
    std::vector<bool> on;  // indexed by node

    bool On(NodeIndex node) const { return node < on.size() && on[node]; }
  };

  // Returns null if no node has the image.
  const Image* Find(const std::string& normalized_name) const;
  // Returns true if the images changed.
  bool Set(NodeIndex node, const core::v1::Node* before, const core::v1::Node* after);

 private:
  void Add(NodeIndex node, const core::v1::Node& object);
  void Remove(NodeIndex node, const core::v1::Node& object);

  std::unordered_map<std::string, Image> images_;
};

}  // namespace cox::scheduler
