// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "coxswain/cache.h"
#include "proxy/model/address.h"

namespace cox::proxy {

// The properties of this Node that the proxy uses.
struct NodeFacts {
  std::string zone;
  std::vector<Address> addresses;  // InternalIP
  // False: the node is about to be removed. Load balancers should not send new connections here.
  bool eligible = true;
  bool operator==(const NodeFacts&) const = default;
};

NodeFacts PodFactsOf(const core::v1::Node& node);

// Watches one Node with a cache of its own, so that other Nodes are not received.
//
// Threads: `changed` is called by the informer's thread, first when the Node is received.
class NodeWatch {
 public:
  NodeWatch(const Context& ctx, Client& client, const std::string& name,
            std::function<void(const NodeFacts& facts)> changed);

  // Waits for the first list; a Node that does not exist yet is reported when it is created.
  Status WaitSynced(Context& ctx) { return cache_->WaitForSync(ctx); }

 private:
  const std::unique_ptr<Cache> cache_;
  const InformerHandle handle_;
};

}  // namespace cox::proxy
