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

// What the proxy wants to know of its own Node.
struct NodeFacts {
  std::string zone;
  std::vector<Address> addresses;  // InternalIP
  // False: about to go. Load balancers should send nobody new here.
  bool eligible = true;
  bool operator==(const NodeFacts&) const = default;
};

NodeFacts FactsOf(const core::v1::Node& node);

// Follows one Node, with a watch of its own: the other nodes are of no interest.
//
// Threads: `changed` runs on the informer's, first when the Node is known.
class NodeWatch {
 public:
  NodeWatch(const Context& ctx, Client& client, const std::string& name,
            std::function<void(const NodeFacts& facts)> changed);

  // Until it is known what there is; a Node that does not exist yet is told of when it comes.
  Status WaitSynced(Context& ctx) { return cache_->WaitForSync(ctx); }

 private:
  const std::unique_ptr<Cache> cache_;
  const InformerHandle handle_;
};

}  // namespace cox::proxy
