// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/lease_renewal.h"

#include <utility>

#include "object/codec/protobuf/protobuf.h"
#include "simulate/node_life.h"
#include "simulate/pernode/event_reader.h"

namespace cox::simulate {
namespace {

using coordination::v1::Lease;

constexpr std::string_view kLeases =
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

std::string Encoded(const Lease& lease) {
  std::string body;
  proto::Seal("coordination.k8s.io/v1", "Lease", Lease::kType, &lease, &body);
  return body;
}

}  // namespace

LeaseRenewal::LeaseRenewal(NodeConnection& connection, int number)
    : connection_(connection), number_(number), backoff_(WriteBackoff()) {}

void LeaseRenewal::Start(const core::v1::Node& node, bool once) {
  once_ = once;
  owner_.metadata.name = node.metadata.name;
  owner_.metadata.uid = node.metadata.uid;
  if (std::exchange(running_, true)) return;
  renewed_.reset();  // the pause is no late renewal
  Due();
}

void LeaseRenewal::Stop() {
  running_ = false;
  timer_.Cancel();
}

void LeaseRenewal::Due() {
  due_ = connection_.shard().clock.Monotonic();
  Send();
}

void LeaseRenewal::Send() {
  // After a pause, the previous renewal may still be in flight: its response schedules the next.
  if (!running_ || in_flight_) return;
  in_flight_ = true;
  if (!version_.empty()) return Update();
  exists_ ? Read() : Create();
}

void LeaseRenewal::Create() {
  const Shard& shard = connection_.shard();
  const Lease lease = MakeLease(shard.options, owner_, shard.clock.Now());
  connection_.Send({.kind = RequestKind::kLease,
                    .method = "POST",
                    .target = std::string(kLeases),
                    .content_type = std::string(kProtobuf),
                    .body = Encoded(lease),
                    .wants_body = true},
                   [this](const Reply& reply) { OnWritten(reply); });
}

void LeaseRenewal::Update() {
  const Shard& shard = connection_.shard();
  Lease lease = MakeLease(shard.options, owner_, shard.clock.Now());
  lease.metadata.resourceVersion = version_;
  connection_.Send({.kind = RequestKind::kLease,
                    .method = "PUT",
                    .target = std::string(kLeases) + "/" + owner_.metadata.name,
                    .content_type = std::string(kProtobuf),
                    .body = Encoded(lease),
                    .wants_body = true},
                   [this](const Reply& reply) { OnWritten(reply); });
}

void LeaseRenewal::Read() {
  connection_.Send({.kind = RequestKind::kLease,
                    .method = "GET",
                    .target = std::string(kLeases) + "/" + owner_.metadata.name,
                    .content_type = {},
                    .body = {},
                    .wants_body = true},
                   [this](const Reply& reply) { OnRead(reply); });
}

void LeaseRenewal::OnRead(const Reply& reply) {
  in_flight_ = false;
  if (reply.code == kHttpNotFound) exists_ = false;
  ObjectView view;
  if (reply.ok() && ReadObjectView(reply.body, &view)) version_ = view.resource_version;
  if (version_.empty() && exists_) return Retry();
  Send();
}

void LeaseRenewal::OnWritten(const Reply& reply) {
  in_flight_ = false;
  if (!reply.ok()) {
    if (reply.code == kHttpConflict) exists_ = true;  // or it was created by a previous process
    // After other errors the kubelet sends the same request again. If it was executed nevertheless,
    // the next one is a conflict.
    if (reply.code == kHttpConflict || reply.code == kHttpNotFound) version_.clear();
    exists_ = exists_ && reply.code != kHttpNotFound;
    return Retry();
  }
  exists_ = true;
  ObjectView view;
  if (ReadObjectView(reply.body, &view)) version_ = view.resource_version;
  Shard& shard = connection_.shard();
  const Clock::SteadyTime now = shard.clock.Monotonic();
  shard.metrics.CountRenewal(now - due_, renewed_ ? now - *renewed_ : Clock::Duration(),
                             shard.options.lease_duration);
  renewed_ = now;
  backoff_.Reset();
  if (once_) running_ = false;
  if (!running_) return;
  timer_.Set(shard, UntilRenewal(shard.options, number_, shard.clock.Now()), [this] { Due(); });
}

void LeaseRenewal::Retry() {
  Shard& shard = connection_.shard();
  shard.metrics.renewal_failures.Inc();
  if (running_) timer_.Set(shard, backoff_.Next(shard.random()), [this] { Send(); });
}

}  // namespace cox::simulate
