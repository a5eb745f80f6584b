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

// Whether `labels` has all that `selector` wants. An empty selector selects nothing here: such
// Services have no Pods of their own.
bool Selects(const Map<std::string>& selector, const Map<std::string>& labels);

// Which Pods a Service selects and which Services select a Pod, both by index: the cost of a change
// is that of the objects it concerns, however many there are in the namespace.
//
// Threads: may be used concurrently. Ownership: a handle of the cache's informers.
class ServicePods {
 public:
  explicit ServicePods(Cache& cache);

  // In the order of their names.
  std::vector<std::shared_ptr<const core::v1::Pod>> PodsOf(const core::v1::Service& service) const;
  std::vector<ObjectKey> ServicesOf(const core::v1::Pod& pod) const;
  // Of all Pods of that node.
  std::vector<ObjectKey> ServicesOnNode(std::string_view node) const;

  // Index keys; public for tests.
  struct ByLabel {  // a Pod under each of its labels
    static constexpr std::string_view kName = "namespace and label";
    static std::vector<std::string> Of(const core::v1::Pod& pod);
  };
  struct BySelector {  // a Service under one pair of its selector: enough to find it
    static constexpr std::string_view kName = "namespace and selector";
    static std::string Of(const core::v1::Service& service);
  };

 private:
  Index<core::v1::Pod, ByLabel> pods_;
  Index<core::v1::Service, BySelector> services_;
  Index<core::v1::Pod, pods::ByNode> by_node_;
};

// Passes changes of Pods that can change what is published of them; most status updates do not.
Predicate PublishedPartChanged();

}  // namespace cox::controllers
