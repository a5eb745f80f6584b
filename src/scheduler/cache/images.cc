// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/images.h"

namespace cox::scheduler {
namespace {

bool SameImages(const core::v1::Node* a, const core::v1::Node* b) {
  static const List<core::v1::ContainerImage> kNone;
  const auto& left = a == nullptr ? kNone : a->status.images;
  const auto& right = b == nullptr ? kNone : b->status.images;
  return left == right;
}

}  // namespace

std::string NormalizedImageName(std::string_view name) {
  std::string out(name);
  // A colon before the last slash belongs to the registry's port.
  const size_t slash = name.rfind('/');
  const size_t from = slash == std::string_view::npos ? 0 : slash + 1;
  if (name.find(':', from) == std::string_view::npos) out += ":latest";
  return out;
}

const Images::Image* Images::Find(const std::string& normalized_name) const {
  const auto found = images_.find(normalized_name);
  return found == images_.end() ? nullptr : &found->second;
}

bool Images::Set(NodeIndex node, const core::v1::Node* before, const core::v1::Node* after) {
  if (SameImages(before, after)) return false;
  if (before != nullptr) Remove(node, *before);
  if (after != nullptr) Add(node, *after);
  return true;
}

void Images::Add(NodeIndex node, const core::v1::Node& object) {
  for (const core::v1::ContainerImage& reported : object.status.images) {
    for (const std::string& name : reported.names) {
      Image& image = images_[name];
      image.size = reported.sizeBytes;
      if (node >= image.on.size()) image.on.resize(node + 1);
      if (!image.on[node]) ++image.nodes;
      image.on[node] = true;
    }
  }
}

void Images::Remove(NodeIndex node, const core::v1::Node& object) {
  for (const core::v1::ContainerImage& reported : object.status.images) {
    for (const std::string& name : reported.names) {
      const auto found = images_.find(name);
      if (found == images_.end() || !found->second.On(node)) continue;
      found->second.on[node] = false;
      if (--found->second.nodes == 0) images_.erase(found);
    }
  }
}

}  // namespace cox::scheduler
