// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "api/coordination/v1.h"
#include "api/core/v1.h"
#include "simulate/loops.h"
#include "simulate/node_life.h"

namespace cox::simulate {
namespace {

using coordination::v1::Lease;
using core::v1::Node;

// Concurrent writes for nodes.
constexpr int kWorkers = 4;

// Threads: like Reconciler: one call at a time per node, so the state of a node needs no lock.
class NodeLoop final : public Reconciler {
 public:
  NodeLoop(Manager& manager, const Options& options)
      : options_(options),
        client_(manager.client()),
        nodes_(manager.cache().ListerOf<Node>()),
        known_(static_cast<size_t>(options.nodes)) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const std::optional<int> number = NodeNumber(options_, key.name);
    if (!number) return ReconcileResult::Done();
    Known& known = known_[static_cast<size_t>(*number)];
    const std::shared_ptr<const Node> node = nodes_.Get(key);
    if (node == nullptr) {
      // A Node that was deleted is not registered again.
      if (known.registered) return ReconcileResult::Done();
      COX_RETURN_IF_ERROR(
          client_.Create(ctx, MakeNode(options_, *number, ctx.clock().Now())).status());
      known.registered = true;
      return ReconcileResult::Done();  // the informer delivers it
    }
    known.registered = true;
    const bool fails = options_.fail.contains(key.name);
    if (IsSilenced(*node) || (fails && !known.lease_version.empty())) {
      return ReconcileResult::Done();
    }
    const StatusDue status = NextHeartbeat(*node, options_, ctx.clock().Now());
    if (status.now) COX_RETURN_IF_ERROR(ReportStatus(ctx, *node, *number));
    if (ctx.clock().Monotonic() >= known.renew) {
      COX_RETURN_IF_ERROR(Renew(ctx, *node, known));
      known.renew = ctx.clock().In(UntilRenewal(options_, *number, ctx.clock().Now()));
    }
    const Clock::Duration until_status =
        status.now ? Clock::Duration(options_.status_period) : status.again;
    return ReconcileResult::After(
        std::min(until_status, Clock::Duration(known.renew - ctx.clock().Monotonic())) +
        std::chrono::milliseconds(1));
  }

 private:
  struct Known {
    bool registered = false;
    std::string lease_version;
    Clock::SteadyTime renew = Clock::SteadyTime::min();
  };

  Status ReportStatus(Context& ctx, const Node& node, int number) {
    return client_
        .PatchStatus<Node>(
            ctx, KeyOf(node),
            Patch::Strategic(StatusPatchOf(options_, node, number, ctx.clock().Now())))
        .status();
  }

  // Stores the resource version, so that a renewal needs one request.
  Status Renew(Context& ctx, const Node& node, Known& known) {
    Lease lease = MakeLease(options_, node, ctx.clock().Now());
    if (known.lease_version.empty()) {
      const Result<Lease> created = client_.Create(ctx, lease);
      if (created.ok()) known.lease_version = created->metadata.resourceVersion;
      if (!created.status().Is(Reason::kAlreadyExists)) return created.status();
      COX_ASSIGN_OR_RETURN(const Lease present, client_.Get<Lease>(ctx, KeyOf(lease)));
      known.lease_version = present.metadata.resourceVersion;
    }
    lease.metadata.resourceVersion = known.lease_version;
    const Result<Lease> renewed = client_.Update(ctx, std::move(lease));
    known.lease_version = renewed.ok() ? renewed->metadata.resourceVersion : "";
    return renewed.status();
  }

  const Options options_;
  Client& client_;
  const Lister<Node> nodes_;
  std::vector<Known> known_;  // by number
};

}  // namespace

Status AddNodeLoop(Manager& manager, const Options& options) {
  ControllerOptions controller;
  controller.max_concurrent_reconciles = kWorkers;
  controller.limiter = ExponentialBackoff(std::chrono::milliseconds(50), std::chrono::seconds(10));
  return ControllerFor<Node>(manager)
      .Named("simulated-nodes")
      .With(std::move(controller))
      .Filter([options](const Delta& delta) {
        return NodeNumber(options, HeadOf(*delta.object()).key.name).has_value();
      })
      // Enqueues all nodes, including those that do not exist yet.
      .From([options](Context&, WorkQueue& queue) -> Status {
        for (int i = 0; i < options.nodes; ++i) queue.Add({"", NodeName(options, i)});
        return {};
      })
      .Complete(std::make_unique<NodeLoop>(manager, options));
}

}  // namespace cox::simulate
