// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodelifecycle/nodelifecycle_controller.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "base/await_stop.h"
#include "controllers/node/nodelifecycle/condition_taints.h"
#include "controllers/node/nodelifecycle/heartbeats.h"
#include "controllers/node/nodelifecycle/overload.h"
#include "controllers/node/nodelifecycle/zones.h"
#include "controllers/shared/pods/by_node.h"
#include "controllers/shared/pods/pod_state.h"
#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

using coordination::v1::Lease;
using core::v1::Node;
using core::v1::Pod;

constexpr std::string_view kLeaseNamespace = "kube-node-lease";
// The object of the test writes.
constexpr std::string_view kProbeNamespace = "kube-system";
constexpr std::string_view kProbeName = "node-lifecycle-write-test";
// Delay until a node is examined again while the control plane may be overloaded.
constexpr std::chrono::seconds kExamineAgain{2};

// Access to the controller's queue, to requeue nodes when zones change.
class Wakeups {
 public:
  void Add(const std::vector<std::string>& nodes) {
    MutexLock lock(mu_);
    if (queue_ == nullptr) return;
    for (const std::string& node : nodes) queue_->Add({"", node});
  }
  Source AsSource(std::shared_ptr<Wakeups> self) {
    return [self = std::move(self)](Context& ctx, WorkQueue& queue) {
      self->Use(&queue);
      (void)AwaitStop(ctx);
      self->Use(nullptr);
      return Status();
    };
  }

 private:
  void Use(WorkQueue* queue) {
    MutexLock lock(mu_);
    queue_ = queue;
  }

  Mutex mu_;
  WorkQueue* queue_ COX_GUARDED_BY(mu_) = nullptr;
};

class NodeLifecycle final : public Reconciler {
 public:
  NodeLifecycle(Manager& manager, const NodeLifecycleOptions& options,
                std::shared_ptr<Wakeups> wakeups)
      : options_(options),
        client_(manager.client()),
        reader_(options.reader != nullptr ? *options.reader : manager.client()),
        events_(manager.events()),
        clock_(manager.context().clock()),
        nodes_(manager.cache().ListerOf<Node>()),
        pods_(manager.cache().IndexOf<Pod, pods::ByNode>()),
        wakeups_(std::move(wakeups)),
        evictions_(manager.metrics().AddCounterVec(
            {.name = "node_collector_evictions_total",
             .help = "Nodes whose Pods are evicted because the node is not ready or unreachable.",
             .stability = Stability::kStable},
            {"zone"})),
        heartbeats_(clock_, options.monitor_grace_period),
        zones_(clock_, options),
        probe_([this](Context& ctx) { return MakeTestWrite(ctx); },
               [this] { heartbeats_.Excuse(); }),
        leases_(manager.cache().InformerOf<Lease>().AddHandler(
            {.on_add = [this](const auto& lease) { LeaseSeen(*lease); },
             .on_update = [this](const auto&, const auto& lease) { LeaseSeen(*lease); },
             .on_delete =
                 [this](const auto& lease) {
                   if (lease->metadata.namespace_ == kLeaseNamespace) {
                     heartbeats_.LeaseGone(lease->metadata.name);
                   }
                 }})) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    // Zone states are computed from all nodes, not only from those reconciled so far.
    std::call_once(primed_, [this] {
      for (const auto& node : nodes_.List()) {
        zones_.Note(node->metadata.name, ZoneKeyOf(*node), ReadyStatus(*node) == "True");
      }
    });
    const auto found = nodes_.Get(key);
    if (found == nullptr) {
      Forget(key.name);
      return ReconcileResult::Done();
    }
    Node node = *found;
    AddNode(node);
    const Examination examined = Examine(ctx, node);
    if (examined.verdict == NodeVerdict::kMark) COX_RETURN_IF_ERROR(MarkUnknown(ctx, node));
    ReportZones(
        zones_.Note(key.name, ZoneKeyOf(node), ReadyStatus(node) == core::v1::kConditionTrue));
    const bool paused = examined.verdict == NodeVerdict::kWait;
    COX_ASSIGN_OR_RETURN(const Clock::Duration turn, SetTaints(ctx, node, paused));
    if (ReadyStatus(node) == core::v1::kConditionUnknown && !paused) {
      COX_RETURN_IF_ERROR(MarkPodsNotReady(ctx, node));
    }
    // The return of a node that is Unknown already causes an event, so no timer is needed.
    const Clock::Duration left = examined.again;
    if (turn > Clock::Duration() && (left <= Clock::Duration() || turn < left)) {
      return ReconcileResult::After(turn);
    }
    return left > Clock::Duration() ? ReconcileResult::After(left) : ReconcileResult::Done();
  }

 private:
  void LeaseSeen(const Lease& lease) {
    if (lease.metadata.namespace_ == kLeaseNamespace) heartbeats_.LeaseSeen(lease);
  }

  void AddNode(const Node& node) {
    const std::string& name = node.metadata.name;
    if (heartbeats_.Knows(name)) return;
    events_.Record(node, EventKind::kNormal, "RegisteredNode", "Registering",
                   "Node " + name + " event: Registered Node " + name + " in Controller");
  }

  void Forget(const std::string& name) {
    if (heartbeats_.Forget(name)) {
      events_.RecordAbout({.gvk = GvkOf(Node::kKind), .key = {"", name}}, EventKind::kNormal,
                          "RemovingNode", "Removing",
                          "Node " + name + " event: Removing Node " + name + " from Controller");
    }
    ReportZones(zones_.Forget(name));
  }

  void ReportZones(const Zones::Change& change) {
    if (change.came_back) heartbeats_.Excuse();
    if (change.state) wakeups_->Add(zones_.NotReady());
  }

  Clock::Duration GraceOf(const Node& node) const {
    return ReadyStatus(node).empty() ? options_.startup_grace_period
                                     : options_.monitor_grace_period;
  }
  // The time until the node's grace period ends.
  Clock::Duration TimeLeft(const Node& node) {
    return heartbeats_.Observe(node) + GraceOf(node) - clock_.Monotonic();
  }

  struct Examination {
    NodeVerdict verdict = NodeVerdict::kAlive;
    Clock::Duration again{};  // zero: not necessary
  };
  // Decides whether the node is dead or the control plane overloaded.
  Examination Examine(Context& ctx, const Node& node) {
    Clock::Duration left = TimeLeft(node);
    const Clock::Duration settling = SettlingTime(GraceOf(node));
    if (left > settling) return {NodeVerdict::kAlive, left - settling};
    // The test writes begin before the grace period ends, so that they do not delay its end.
    const std::optional<Clock::Duration> responsive = probe_.Check(ctx);
    left = TimeLeft(node);  // it may be new
    if (left > Clock::Duration()) {
      return {NodeVerdict::kAlive, std::min<Clock::Duration>(left, ControlPlaneProbe::kPeriod)};
    }
    const bool marked = !UnknownConditions(node, TimeNow(clock_)).has_value();
    if (!marked && responsive.has_value()) {
      // The watch may be late. A failed read is no reason for a growing delay, as an error would
      // be.
      const Status read = ReadLease(ctx, node.metadata.name);
      if (!read.ok()) {
        COX_V(ctx.log(), 2, "Not marking a silent node: its Lease cannot be read",
              {"node", node.metadata.name}, {"why", read.message()});
        return {NodeVerdict::kWait, kExamineAgain};
      }
      left = TimeLeft(node);
    }
    const HeartbeatGaps::Recent recent = heartbeats_.Recent();
    const NodeEvidence evidence{.silent = GraceOf(node) - left,
                                .grace = GraceOf(node),
                                .on_time = recent.on_time,
                                .late = recent.late,
                                .longest_gap = recent.longest,
                                .responsive = responsive};
    const NodeVerdict verdict = ExamineNode(evidence);
    if (verdict == NodeVerdict::kAlive) return {verdict, left};
    if (verdict == NodeVerdict::kMark) return {verdict, {}};
    COX_V(ctx.log(), 2, "Not marking a silent node: the control plane may be overloaded",
          {"node", node.metadata.name}, {"late", recent.late}, {"on time", recent.on_time});
    return {verdict, kExamineAgain};
  }

  // Reads the node's Lease from the store, not from a cache.
  Status ReadLease(Context& ctx, const std::string& name) {
    ListOptions which;
    which.ns = kLeaseNamespace;
    which.fields = fields::Selector::OneTermEqual("metadata.name", name);
    Context attempt = ctx.WithTimeout(ControlPlaneProbe::kLimit);
    const Result<ObjectList<Lease>> leases = reader_.List<Lease>(attempt, which);
    if (leases.status().Is(Reason::kForbidden)) return {};  // then only the watch is known
    COX_RETURN_IF_ERROR(leases.status());
    for (const Lease& lease : leases->items) LeaseSeen(lease);
    return {};
  }

  // Creates an object that exists already after the first time. The store decides that with a
  // transaction that is committed like every write, so this changes nothing and needs as long.
  Status MakeTestWrite(Context& ctx) {
    Lease lease;
    lease.metadata.namespace_ = kProbeNamespace;
    lease.metadata.name = kProbeName;
    const Status written = reader_.Create(ctx, std::move(lease)).status();
    const bool processed = written.Is(Reason::kAlreadyExists) || written.Is(Reason::kForbidden);
    return processed ? Status() : written;
  }

  Status MarkUnknown(Context& ctx, Node& node) {
    auto conditions = UnknownConditions(node, TimeNow(clock_));
    if (!conditions.has_value()) return {};
    const bool was_ready = ReadyStatus(node) == core::v1::kConditionTrue;
    Node unknown = node;
    unknown.status.conditions = std::move(*conditions);
    COX_ASSIGN_OR_RETURN(
        node, client_.PatchStatus<Node>(ctx, KeyOf(node), Patch::Between(node, unknown, true)));
    if (was_ready) {
      events_.Record(node, EventKind::kNormal, "NodeNotReady", "Updating",
                     "Node " + node.metadata.name + " status is now: NodeNotReady");
    }
    return {};
  }

  // Returns the time to wait for an eviction permit; 0: none needed, or wait for a zone change.
  // `paused`: the control plane may be overloaded, so there are no new evictions.
  Result<Clock::Duration> SetTaints(Context& ctx, Node& node, bool paused) {
    Clock::Duration wait{};
    Eviction eviction = Eviction::kFromConditions;
    if (zones_.AllDown()) {
      eviction = Eviction::kNone;
    } else if (paused) {
      eviction = Eviction::kNoMore;
    } else if (!EvictingTaint(node).empty() && !HasEvictingTaint(node)) {
      const std::optional<Clock::Duration> turn = zones_.TakeTurn(ZoneKeyOf(node));
      wait = turn.value_or(Clock::Duration());
      if (!turn.has_value() || wait > Clock::Duration()) eviction = Eviction::kNoMore;
    }
    List<core::v1::Taint> taints = TaintsFor(node, eviction, TimeNow(clock_));
    if (taints == node.spec.taints) return wait;
    const bool was_evicting = HasEvictingTaint(node);
    Node tainted = node;
    tainted.spec.taints = std::move(taints);
    COX_ASSIGN_OR_RETURN(
        node, client_.PatchObject<Node>(ctx, KeyOf(node), Patch::Between(node, tainted, true)));
    if (!was_evicting && HasEvictingTaint(node)) evictions_.With({ZoneKeyOf(node)}).Inc();
    return wait;
  }

  // The kubelet cannot update its Pods. Without this, Services would keep sending traffic to them.
  Status MarkPodsNotReady(Context& ctx, const Node& node) {
    Status failed;
    for (const auto& pod : pods_.Find(node.metadata.name)) {
      if (!pods::IsReady(*pod)) continue;
      Pod changed = *pod;
      core::v1::PodCondition* ready = FindCondition(changed.status.conditions, core::v1::kPodReady);
      ready->status = core::v1::kConditionFalse;
      ready->lastTransitionTime = TimeNow(clock_);
      const Status status =
          client_.PatchStatus<Pod>(ctx, KeyOf(*pod), Patch::Between(*pod, changed, true)).status();
      if (status.Is(Reason::kNotFound)) continue;
      if (!status.ok()) {
        failed = status;
        continue;
      }
      events_.Record(*pod, EventKind::kWarning, "NodeNotReady", "Updating", "Node is not ready");
    }
    return failed;
  }

  const NodeLifecycleOptions options_;
  Client& client_;
  Client& reader_;
  EventRecorder& events_;
  Clock& clock_;
  const Lister<Node> nodes_;
  const Index<Pod, pods::ByNode> pods_;
  const std::shared_ptr<Wakeups> wakeups_;
  CounterVec& evictions_;
  Heartbeats heartbeats_;
  Zones zones_;
  ControlPlaneProbe probe_;
  std::once_flag primed_;
  const InformerHandle leases_;  // last: its handler uses the other members
};

}  // namespace

Status AddNodeLifecycleController(Manager& manager, const NodeLifecycleOptions& options) {
  auto wakeups = std::make_shared<Wakeups>();
  return ControllerFor<Node>(manager)
      .Named("node-lifecycle-controller")
      .With({.max_concurrent_reconciles = 8})
      .From(wakeups->AsSource(wakeups))
      .Complete(std::make_unique<NodeLifecycle>(manager, options, wakeups));
}

}  // namespace cox::controllers
