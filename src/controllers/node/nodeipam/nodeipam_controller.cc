// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodeipam/nodeipam_controller.h"

#include <memory>
#include <mutex>
#include <utility>

#include "api/core/v1.h"
#include "controllers/node/nodeipam/ranges.h"

namespace cox::controllers {
namespace {

using core::v1::Node;

// Retry interval while a range is exhausted; only the deletion of a node changes that.
constexpr std::chrono::seconds kFullAgain{30};

class NodeIpam final : public Reconciler {
 public:
  NodeIpam(Manager& manager, std::unique_ptr<Ranges> ranges)
      : client_(manager.client()),
        events_(manager.events()),
        nodes_(manager.cache().ListerOf<Node>()),
        ranges_(std::move(ranges)) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    // All existing allocations are recorded before the first new one.
    std::call_once(primed_, [this] {
      for (const auto& node : nodes_.List()) {
        if (!node->spec.podCIDRs.empty()) ranges_->Note(node->metadata.name, node->spec.podCIDRs);
      }
    });
    const auto node = nodes_.Get(key);
    if (node == nullptr) {
      ranges_->Forget(key.name);
      return ReconcileResult::Done();
    }
    if (!node->spec.podCIDRs.empty()) {
      ranges_->Note(key.name, node->spec.podCIDRs);
      return ReconcileResult::Done();
    }
    auto cidrs = ranges_->Reserve(key.name);
    if (!cidrs) {
      events_.Record(*node, EventKind::kNormal, "CIDRNotAvailable", "Allocating",
                     "Node " + key.name + " status is now: CIDRNotAvailable");
      return ReconcileResult::After(kFullAgain);
    }
    Node changed = *node;
    changed.spec.podCIDR = cidrs->front();
    changed.spec.podCIDRs = *std::move(cidrs);
    const Status status =
        client_.PatchObject<Node>(ctx, key, Patch::Between(*node, changed, true)).status();
    if (status.ok() || status.Is(Reason::kNotFound)) return ReconcileResult::Done();
    return status;  // keeps the reservation, because the write may have succeeded
  }

 private:
  Client& client_;
  EventRecorder& events_;
  const Lister<Node> nodes_;
  const std::unique_ptr<Ranges> ranges_;
  std::once_flag primed_;
};

}  // namespace

Status AddNodeIpamController(Manager& manager, const NodeIpamOptions& options) {
  if (!options.allocate_node_cidrs) return {};
  COX_ASSIGN_OR_RETURN(std::unique_ptr<Ranges> ranges, Ranges::Create(options));
  return ControllerFor<Node>(manager)
      .Named("node-ipam-controller")
      .With({.max_concurrent_reconciles = 4})
      // Skips heartbeats of nodes that have their podCIDRs.
      .Filter([](const Delta& delta) {
        if (delta.before == nullptr || delta.after == nullptr) return true;
        const auto before = As<Node>(delta.before);
        const auto after = As<Node>(delta.after);
        return before == nullptr || after == nullptr || after->spec.podCIDRs.empty() ||
               before->spec.podCIDRs != after->spec.podCIDRs;
      })
      .Complete(std::make_unique<NodeIpam>(manager, std::move(ranges)));
}

}  // namespace cox::controllers
