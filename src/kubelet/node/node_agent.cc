// SPDX-License-Identifier: Apache-2.0
#include "kubelet/node/node_agent.h"

#include <algorithm>
#include <charconv>

#include "base/scope.h"
#include "base/strings.h"
#include "coxswain/conditions.h"
#include "kubelet/node/lease.h"

namespace cox::kubelet {
namespace {

using core::v1::Node;
using core::v1::NodeStatus;

constexpr std::chrono::milliseconds kFirstRetry{100};
constexpr std::chrono::seconds kMaxRetry{7};
// The sync interval of a node that is not ready: first, and after kFastFor.
constexpr std::chrono::milliseconds kFast{500};
constexpr std::chrono::seconds kSlow{5};
constexpr std::chrono::seconds kFastFor{120};
// How long the first status waits for the Pod manager, which starts concurrently.
constexpr std::chrono::seconds kPodsStart{1};
constexpr std::chrono::milliseconds kPodsCheck{20};
// How long an unreachable runtime is assumed to be restarting.
constexpr std::chrono::seconds kRuntimeGrace{30};
constexpr std::chrono::seconds kRuntimeTimeout{10};
// The interval for listing images.
constexpr std::chrono::seconds kImagePeriod{60};

int64_t VersionOf(const Node& node) {
  const std::string& text = node.metadata.resourceVersion;
  int64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

}  // namespace

NodeAgent::NodeAgent(NodeOptions options, Parts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      pressure_(options_.pressure_transition) {}

Status NodeAgent::Prepare() {
  if (machine_) return {};
  COX_ASSIGN_OR_RETURN(machine_, ReadMachine(parts_.machine_root));
  return {};
}

Status NodeAgent::Run(Context& ctx) {
  COX_RETURN_IF_ERROR(Prepare());
  Scope scope(ctx, "node");
  COX_RETURN_IF_ERROR(scope.Go("node-lease", [this](Context& run) {
    NodeLease(parts_.client, options_.name, options_.lease_duration, parts_.cached).Run(run);
  }));
  RunStatus(ctx);
  scope.Stop();
  scope.Wait();
  return {};
}

void NodeAgent::RunStatus(Context& ctx) {
  Clock::Duration retry = kFirstRetry;
  bool registered = false;
  while (!ctx.Done()) {
    Status done = registered ? Status() : Register(ctx);
    if (done.ok()) {
      registered = true;
      AwaitPods(ctx);
      done = Sync(ctx);
    }
    if (ctx.Done()) return;
    if (done.ok()) {
      retry = kFirstRetry;
      changed_.Await(ctx, Pause(ctx.clock()));
      continue;
    }
    if (done.Is(Reason::kNotFound) && options_.register_node) registered = false;
    COX_V(ctx.log(), retry == kFirstRetry ? 2 : 0, "Could not update the status of the node",
          {"node", options_.name}, {"why", done.message()});
    changed_.Await(ctx, retry);
    retry = std::min<Clock::Duration>(retry * 2, kMaxRetry);
  }
}

// Waits for the Pod manager before the first status: a node that reports NotReady first is tainted,
// and gets no Pods until the taint is removed.
void NodeAgent::AwaitPods(Context& ctx) {
  if (started_ || !parts_.pods_ready) return;
  const Clock::SteadyTime until = ctx.clock().In(kPodsStart);
  while (!ctx.Done() && ctx.clock().Monotonic() < until && !parts_.pods_ready().ok()) {
    changed_.Await(ctx, kPodsCheck);
  }
}

Clock::Duration NodeAgent::Pause(const Clock& clock) const {
  if (ready_) return options_.status_update;
  return clock.Monotonic() - *started_ < kFastFor ? Clock::Duration(kFast) : Clock::Duration(kSlow);
}

Status NodeAgent::Register(Context& ctx) {
  COX_RETURN_IF_ERROR(Prepare());
  if (!options_.register_node) return {};
  const Node wanted = NewNode(options_, *machine_);
  const Result<Node> created = parts_.client.Create(ctx, wanted);
  if (created.ok()) {
    COX_INFO(ctx.log(), "Registered the node", {"node", options_.name});
    if (parts_.events != nullptr) {
      parts_.events->Record(*created, EventKind::kNormal, "Starting", "Starting",
                            "Starting kubelet.");
    }
    return {};
  }
  if (!created.status().Is(Reason::kAlreadyExists)) return created.status();
  COX_ASSIGN_OR_RETURN(const Node existing, parts_.client.Get<Node>(ctx, {"", options_.name}));
  Node next = existing;
  if (!ReconcileNode(wanted, &next)) return {};
  COX_INFO(ctx.log(), "Updating labels of the existing node", {"node", options_.name});
  return parts_.client.PatchObject<Node>(ctx, {"", options_.name}, Patch::Between(existing, next))
      .status();
}

Result<runtime::RuntimeStatus> NodeAgent::GetRuntimeStatus(Context& ctx) {
  Context limit = ctx.WithTimeout(kRuntimeTimeout);
  Result<runtime::RuntimeStatus> status = parts_.runtime.GetStatus(limit);
  const Clock::SteadyTime now = ctx.clock().Monotonic();
  if (status.ok()) {
    // After an outage it may be a different runtime version.
    if (version_.name.empty() || !last_status_ || now - last_answer_ > kRuntimeTimeout * 2) {
      if (auto version = parts_.runtime.GetVersion(limit); version.ok()) version_ = *version;
    }
    last_status_ = *status;
    last_answer_ = now;
    return status;
  }
  COX_V(ctx.log(), 2, "Container runtime does not respond", {"why", status.status().message()});
  if (last_status_ && now - last_answer_ < kRuntimeGrace) return *last_status_;
  return status;
}

Pressure NodeAgent::MeasurePressure(Context& ctx) {
  Resources resources;
  if (auto slack = ReadAvailableResources(parts_.machine_root); slack.ok())
    resources.slack = *slack;
  if (auto node = ReadFilesystem(options_.root_dir); node.ok()) resources.node = *node;
  resources.images = resources.node;
  if (image_folder_.empty()) {
    Context limit = ctx.WithTimeout(kRuntimeTimeout);
    const auto filesystems = parts_.runtime.GetImageFilesystems(limit);
    if (filesystems.ok() && !filesystems->images.empty() && filesystems->images[0].fs_id) {
      image_folder_ = filesystems->images[0].fs_id->mountpoint;
    }
  }
  if (!image_folder_.empty()) {
    if (auto images = ReadFilesystem(image_folder_); images.ok()) resources.images = *images;
  }
  return pressure_.Observe(FindPressure(options_.eviction_hard, resources),
                           ctx.clock().Monotonic());
}

NodeFacts NodeAgent::Gather(Context& ctx) {
  NodeFacts facts;
  facts.machine = *machine_;
  if (auto storage = ReadFilesystem(options_.root_dir); storage.ok()) {
    facts.storage_bytes = storage->capacity_bytes;
  }
  facts.runtime_status = GetRuntimeStatus(ctx);
  facts.runtime = version_;
  if (parts_.pods_ready) facts.pods = parts_.pods_ready();
  const Clock::SteadyTime now = ctx.clock().Monotonic();
  if (facts.runtime_status.ok() && (!images_at_ || now - *images_at_ >= kImagePeriod)) {
    Context limit = ctx.WithTimeout(kRuntimeTimeout);
    if (auto images = parts_.runtime.ListImages(limit); images.ok()) {
      images_ = *std::move(images);
      images_at_ = now;
    }
  }
  facts.images = images_;
  facts.pressure = MeasurePressure(ctx);
  return facts;
}

Result<Node> NodeAgent::CurrentNode(Context& ctx) {
  if (parts_.cached) {
    if (const auto node = parts_.cached()) {
      // The cache may not contain the last write yet.
      const bool behind = written_ && written_->metadata.uid == node->metadata.uid &&
                          VersionOf(*written_) > VersionOf(*node);
      return behind ? *written_ : *node;
    }
  }
  return parts_.client.Get<Node>(ctx, {"", options_.name});
}

Status NodeAgent::Sync(Context& ctx) {
  COX_RETURN_IF_ERROR(Prepare());
  if (!started_) started_ = ctx.clock().Monotonic();
  const NodeFacts facts = Gather(ctx);
  COX_ASSIGN_OR_RETURN(const Node node, CurrentNode(ctx));
  SetPodCidr(ctx, node);
  const NodeStatus next = BuildNodeStatus(node.status, facts, options_, TimeNow(ctx.clock()));
  const Clock::SteadyTime now = ctx.clock().Monotonic();
  const bool due = !reported_ || now - *reported_ >= options_.status_report;
  if (!due && !NodeStatusChanged(node.status, next)) {
    ready_ = IsReady(next);
    return {};
  }
  COX_RETURN_IF_ERROR(Write(ctx, node, next));
  reported_ = now;
  RecordChanges(node, next);
  if (IsReady(next) != ready_) {
    ready_ = IsReady(next);
    if (ready_) {
      COX_INFO(ctx.log(), "The node is ready", {"node", options_.name});
    } else {
      COX_WARNING(ctx.log(), "The node is not ready", {"node", options_.name},
                  {"why", NotReadyMessage(facts)});
    }
  }
  return {};
}

Status NodeAgent::Write(Context& ctx, const Node& node, const NodeStatus& status) {
  COX_ASSIGN_OR_RETURN(std::string patch, NodeStatusPatch(node, status));
  if (patch.empty()) return {};
  Context limit = ctx.WithTimeout(kRuntimeTimeout);
  COX_ASSIGN_OR_RETURN(written_,
                       parts_.client.PatchStatus<Node>(limit, {"", options_.name},
                                                       Patch::Strategic(std::move(patch))));
  return {};
}

// Some network plugins are configured by the runtime, which needs this node's Pod CIDRs.
void NodeAgent::SetPodCidr(Context& ctx, const Node& node) {
  const std::string cidr = Join(node.spec.podCIDRs, ",");
  if (cidr.empty() || cidr == pod_cidr_) return;
  const Status told = parts_.runtime.SetPodCidr(ctx, cidr);
  if (told.ok()) {
    pod_cidr_ = cidr;
  } else {
    COX_V(ctx.log(), 2, "Could not set the Pod CIDR in the runtime", {"why", told.message()});
  }
}

void NodeAgent::RecordChanges(const Node& node, const NodeStatus& after) {
  if (parts_.events == nullptr) return;
  struct Names {
    std::string_view type, when_true, when_false;
  };
  constexpr Names kNames[] = {
      {"MemoryPressure", "NodeHasInsufficientMemory", "NodeHasSufficientMemory"},
      {"DiskPressure", "NodeHasDiskPressure", "NodeHasNoDiskPressure"},
      {"PIDPressure", "NodeHasInsufficientPID", "NodeHasSufficientPID"},
      {"Ready", "NodeReady", "NodeNotReady"}};
  for (const Names& names : kNames) {
    const auto* before = FindCondition(node.status.conditions, names.type);
    const auto* now = FindCondition(after.conditions, names.type);
    if (now == nullptr || (before != nullptr && before->status == now->status)) continue;
    const std::string_view what = now->status == "True" ? names.when_true : names.when_false;
    parts_.events->Record(node, EventKind::kNormal, what, "StatusUpdate",
                          "Node " + options_.name + " status is now: " + std::string(what));
  }
}

}  // namespace cox::kubelet
