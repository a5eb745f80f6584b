// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/simulated_node.h"

#include <utility>

#include "coxswain/conditions.h"
#include "object/codec/protobuf/protobuf.h"
#include "simulate/node_life.h"

namespace cox::simulate {
namespace {

using core::v1::Node;

constexpr std::string_view kNodes = "/api/v1/nodes";
// kube-proxy leaves these to others: !service.kubernetes.io/headless,
// !service.kubernetes.io/service-proxy-name
constexpr std::string_view kSliceSelector =
    "labelSelector=%21service.kubernetes.io%2Fheadless%2C"
    "%21service.kubernetes.io%2Fservice-proxy-name";
// The share of the status period by which a heartbeat may be later, so that nodes that were started
// together do not stay together.
constexpr double kStatusJitter = 0.04;

// Keeps what node_life.h reads.
Node KeepNodeFields(Node&& node) {
  Node kept;
  kept.metadata.name = std::move(node.metadata.name);
  kept.metadata.uid = std::move(node.metadata.uid);
  if (const auto fail = node.metadata.annotations.find(kFail);
      fail != node.metadata.annotations.end()) {
    kept.metadata.annotations[std::string(kFail)] = fail->second;
  }
  for (core::v1::NodeCondition& condition : node.status.conditions) {
    auto& to = kept.status.conditions.emplace_back();
    to.type = std::move(condition.type);
    to.status = std::move(condition.status);
    to.lastHeartbeatTime = condition.lastHeartbeatTime;
    to.lastTransitionTime = condition.lastTransitionTime;
  }
  return kept;
}

}  // namespace

SimulatedNode::SimulatedNode(Shard& shard, int number, std::unique_ptr<net::Client> client)
    : shard_(shard),
      number_(number),
      name_(NodeName(shard.options, number)),
      fails_(shard.options.fail.contains(name_)),
      connection_(shard, std::move(client)),
      lease_(connection_, number),
      pods_(connection_, number, name_),
      backoff_(WriteBackoff()) {}

void SimulatedNode::Start(std::function<void()> started) {
  started_ = std::move(started);
  Register();
}

void SimulatedNode::Register() {
  const Node node = MakeNode(shard_.options, number_, shard_.clock.Now());
  std::string body;
  proto::Seal("v1", "Node", Node::kType, &node, &body);
  connection_.Send({.kind = RequestKind::kRegister,
                    .method = "POST",
                    .target = std::string(kNodes),
                    .content_type = std::string(kProtobuf),
                    .body = std::move(body),
                    .wants_body = true},
                   [this](const Reply& reply) {
                     // It was registered by a previous process.
                     if (reply.code == kHttpConflict) return ReadNode();
                     OnRegistered(reply);
                   });
}

void SimulatedNode::ReadNode() {
  connection_.Send({.kind = RequestKind::kRegister,
                    .method = "GET",
                    .target = std::string(kNodes) + "/" + name_,
                    .content_type = {},
                    .body = {},
                    .wants_body = true},
                   [this](const Reply& reply) { OnRegistered(reply); });
}

void SimulatedNode::OnRegistered(const Reply& reply) {
  Result<Node> node = reply.ok() ? proto::Decode<Node>(reply.body)
                                 : Status::Unavailable("the node is not registered");
  if (node.ok() && !node->metadata.uid.empty()) {
    Begin(*std::move(node));
  } else {
    timer_.Set(shard_, backoff_.Next(shard_.random()), [this] { Register(); });
  }
  if (const auto started = std::exchange(started_, nullptr)) started();
}

void SimulatedNode::Begin(Node node) {
  begun_ = true;
  shard_.metrics.registered.Inc();
  const auto watch = [this](WatchKind kind, std::string_view path, std::string_view selector,
                            WatchHandler* handler) {
    auto made = std::make_shared<ResourceWatch>(connection_, kind, std::string(path),
                                                std::string(selector), handler);
    made->Start();
    return made;
  };
  if (fails_) pods_.Pause();
  Observe(std::move(node));
  node_ = watch(WatchKind::kNode, kNodes, "fieldSelector=metadata.name%3D" + name_, this);
  pods_.Start();
  services_ = watch(WatchKind::kServices, "/api/v1/services", "", nullptr);
  endpoint_slices_ = watch(WatchKind::kEndpointSlices, "/apis/discovery.k8s.io/v1/endpointslices",
                           kSliceSelector, nullptr);
}

void SimulatedNode::OnEvent(const WatchedEvent& event, const ObjectView&) {
  if (event.type == WatchedEvent::Type::kDeleted) {
    deleted_ = true;
    lease_.Stop();
    status_timer_.Cancel();
    if (std::exchange(ready_, false)) shard_.metrics.ready.Dec();
    shard_.metrics.registered.Dec();
    return;
  }
  Result<Node> node = proto::Decode<Node>(event.object);
  if (!node.ok() || deleted_) return;
  Observe(*std::move(node));
}

void SimulatedNode::Observe(Node node) {
  last_ = KeepNodeFields(std::move(node));
  const bool ready = IsTrue(last_.status.conditions, "Ready");
  if (ready != ready_) {
    shard_.metrics.ready.Add(ready ? 1 : -1);
    if (!ready) shard_.metrics.became_not_ready.Inc();
    ready_ = ready;
  }
  ApplySilence();
  WriteStatusWhenDue();
}

void SimulatedNode::ApplySilence() {
  if (fails_) {
    // One renewal, so that the node is known to have been alive.
    if (!lease_.renewed()) lease_.Start(last_, /*once=*/true);
    return;
  }
  if (IsSilenced(last_)) {
    lease_.Stop();
    pods_.Pause();
  } else {
    lease_.Start(last_);
    pods_.Resume();
  }
}

void SimulatedNode::WriteStatusWhenDue() {
  if (writing_status_ || deleted_ || IsSilenced(last_) || (fails_ && lease_.renewed())) return;
  const StatusDue due = NextHeartbeat(last_, shard_.options, shard_.clock.Now());
  if (due.now) return WriteStatus();
  const auto jitter = std::chrono::duration_cast<Clock::Duration>(
      std::chrono::duration<double>(shard_.options.status_period) * kStatusJitter *
      shard_.random());
  status_timer_.Set(shard_, due.again + jitter, [this] { WriteStatusWhenDue(); });
}

void SimulatedNode::WriteStatus() {
  writing_status_ = true;
  status_timer_.Cancel();
  connection_.Send({.kind = RequestKind::kNodeStatus,
                    .method = "PATCH",
                    .target = std::string(kNodes) + "/" + name_ + "/status",
                    .content_type = "application/strategic-merge-patch+json",
                    .body = StatusPatchOf(shard_.options, last_, number_, shard_.clock.Now())},
                   [this](const Reply& reply) {
                     writing_status_ = false;
                     if (reply.ok()) {
                       backoff_.Reset();  // the event of this write sets the time of the next one
                     } else {
                       status_timer_.Set(shard_, backoff_.Next(shard_.random()),
                                         [this] { WriteStatusWhenDue(); });
                     }
                   });
}

}  // namespace cox::simulate
