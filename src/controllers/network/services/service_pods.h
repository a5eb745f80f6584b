// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "controllers/shared/pods/by_node.h"
#include "coxswain/cache.h"
#include "coxswain/predicate.h"

namespace cox::controllers {

// Returns whether `labels` contain all pairs of `selector`. An empty selector matches nothing,
// because such Services have no Pods.
bool Selects(const Map<std::string>& selector, const Map<std::string>& labels);

// Finds the Pods that a Service selects and the Services that select a Pod. Both use indexes, so
// the cost depends on the objects that match, not on the size of the namespace.
//
// Threads: may be used concurrently.
// Ownership: a handle to the cache's informers.
class ServicePods {
 public:
  explicit ServicePods(Cache& cache);

  // Sorted by name.
  std::vector<std::shared_ptr<const core::v1::Pod>> PodsOf(const core::v1::Service& service) const;
  std::vector<ObjectKey> ServicesOf(const core::v1::Pod& pod) const;
  // The Services of all Pods on that node.
  std::vector<ObjectKey> ServicesOnNode(std::string_view node) const;

  // Index keys; public for tests.
  struct ByLabel {  // indexes a Pod under each of its labels
    static constexpr std::string_view kName = "namespace and label";
    static std::vector<std::string> Of(const core::v1::Pod& pod);
  };
  // Indexes a Service under one pair of its selector, which is sufficient to find it.
  struct BySelector {
    static constexpr std::string_view kName = "namespace and selector";
    static std::string Of(const core::v1::Service& service);
  };

 private:
  Index<core::v1::Pod, ByLabel> pods_;
  Index<core::v1::Service, BySelector> services_;
  Index<core::v1::Pod, pods::ByNode> by_node_;
};

// Passes only changes of Pods that can change their endpoints; most status updates do not.
Predicate PublishedPartChanged();

}  // namespace cox::controllers
