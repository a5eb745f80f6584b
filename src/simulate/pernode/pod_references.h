// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "simulate/pernode/resource_watch.h"

namespace cox::simulate {

// A ConfigMap or Secret that a Pod references, in the Pod's namespace.
struct PodReference {
  bool is_secret = false;
  std::string ns;
  std::string name;

  auto operator<=>(const PodReference&) const = default;
};

// The objects that a kubelet reads for a Pod: those in environments, in volumes of type configMap,
// secret and projected, and imagePullSecrets. Sorted, without duplicates.
std::vector<PodReference> ReferencesOf(const core::v1::Pod& pod);

// The watches of a node's ConfigMaps and Secrets: one for each object that a Pod references.
//
// Threads: the loop's thread.
class ReferenceWatches {
 public:
  explicit ReferenceWatches(NodeConnection& connection) : connection_(connection) {}

  // Each call of Add needs one of Remove. The watch exists in between.
  void Add(const PodReference& reference);
  void Remove(const PodReference& reference);

  size_t size() const { return watches_.size(); }

 private:
  struct Counted {
    size_t pods = 0;
    std::shared_ptr<ResourceWatch> watch;
  };
  NodeConnection& connection_;
  std::map<PodReference, Counted> watches_;
};

}  // namespace cox::simulate
