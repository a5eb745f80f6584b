// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/coordination/v1.h"
#include "api/core/v1.h"
#include "base/context.h"
#include "coxswain/client.h"

// The heartbeat of a node: a Lease in kube-node-lease that is renewed periodically.
namespace cox::kubelet {

inline constexpr std::string_view kLeaseNamespace = "kube-node-lease";

// The Lease to write: a new one, or `present` renewed. If `node` is null, the owner reference is
// set later. An owner reference with an outdated UID is replaced.
coordination::v1::Lease NextLease(const coordination::v1::Lease* present, const std::string& name,
                                  const core::v1::Node* node, std::chrono::seconds duration,
                                  Clock::WallTime now);

// Renews the Lease four times per duration until `ctx` is cancelled.
//
// An update of an outdated version is retried immediately, other failures with a backoff of at most
// seven seconds and at most a quarter of the duration: a Lease that is not renewed for its duration
// makes the node NotReady. Renewals do not wait for other writes of the kubelet: they have their
// own thread, and the client has no rate limit. Threads: one.
class NodeLease {
 public:
  using NodeSource = std::function<std::shared_ptr<const core::v1::Node>()>;
  NodeLease(Client& client, std::string name, std::chrono::seconds duration, NodeSource node);

  void Run(Context& ctx);
  // One attempt. For tests.
  Status Renew(Context& ctx);

 private:
  Status TryRenew(Context& ctx);

  Client& client_;
  const std::string name_;
  const std::chrono::seconds duration_;
  const NodeSource node_;
  // The last written version; none if another writer may have changed it. Used by one thread only.
  std::optional<coordination::v1::Lease> lease_;
};

}  // namespace cox::kubelet
