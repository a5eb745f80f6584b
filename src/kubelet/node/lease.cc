// SPDX-License-Identifier: Apache-2.0
#include "kubelet/node/lease.h"

#include <algorithm>
#include <random>

#include "object/owner.h"

namespace cox::kubelet {
namespace {

using coordination::v1::Lease;

constexpr std::chrono::milliseconds kFirstRetry{200};
constexpr std::chrono::milliseconds kMaxRetry{7000};
// A renewal that takes longer, or longer than the renewal period, is cancelled and retried.
constexpr std::chrono::seconds kTimeout{10};

}  // namespace

Lease NextLease(const Lease* present, const std::string& name, const core::v1::Node* node,
                std::chrono::seconds duration, Clock::WallTime now) {
  Lease lease;
  if (present != nullptr) lease = *present;
  lease.metadata.namespace_ = kLeaseNamespace;
  lease.metadata.name = name;
  lease.spec.holderIdentity = name;
  lease.spec.leaseDurationSeconds = static_cast<int32_t>(duration.count());
  // The API stores microseconds.
  const auto since = std::chrono::floor<std::chrono::microseconds>(now.time_since_epoch());
  lease.spec.renewTime = MicroTime::FromUnixNanos(since.count() * 1000);
  if (node != nullptr && !node->metadata.uid.empty()) {
    auto& owners = lease.metadata.ownerReferences;
    const bool known = std::any_of(owners.begin(), owners.end(), [&](const auto& owner) {
      return owner.uid == node->metadata.uid;
    });
    if (!known) {
      owners = {{.apiVersion = "v1", .kind = "Node", .name = name, .uid = node->metadata.uid}};
    }
  }
  return lease;
}

NodeLease::NodeLease(Client& client, std::string name, std::chrono::seconds duration,
                     NodeSource node)
    : client_(client), name_(std::move(name)), duration_(duration), node_(std::move(node)) {}

Status NodeLease::Renew(Context& ctx) {
  for (bool again = false;; again = true) {
    const Status renewed = TryRenew(ctx);
    const bool changed = renewed.Is(Reason::kConflict) || renewed.Is(Reason::kNotFound) ||
                         renewed.Is(Reason::kAlreadyExists);
    // Other errors leave the known version valid, so that the retry needs one request, not two.
    if (changed) lease_.reset();
    if (!changed || again) return renewed;
  }
}

Status NodeLease::TryRenew(Context& ctx) {
  const ObjectKey key{std::string(kLeaseNamespace), name_};
  if (!lease_) {
    Result<Lease> found = client_.Get<Lease>(ctx, key);
    if (found.ok()) {
      lease_ = *std::move(found);
    } else if (!found.status().Is(Reason::kNotFound)) {
      return found.status();
    }
  }
  const auto node = node_ ? node_() : nullptr;
  Lease next =
      NextLease(lease_ ? &*lease_ : nullptr, name_, node.get(), duration_, ctx.clock().Now());
  COX_ASSIGN_OR_RETURN(
      lease_, lease_ ? client_.Update(ctx, std::move(next)) : client_.Create(ctx, std::move(next)));
  return {};
}

void NodeLease::Run(Context& ctx) {
  std::minstd_rand random(static_cast<uint32_t>(std::hash<std::string>()(name_)));
  const Clock::Duration period = Clock::Duration(duration_) / 4;
  Clock::Duration retry = kFirstRetry;
  while (!ctx.Done()) {
    Context attempt = ctx.WithTimeout(std::min<Clock::Duration>(kTimeout, period));
    const Status renewed = Renew(attempt);
    Clock::Duration pause = retry;
    if (renewed.ok()) {
      retry = kFirstRetry;
      // Jitter, so that nodes that were started together do not always renew at the same time.
      pause = period + period * static_cast<int64_t>(random() % 1000) / 25'000;
    } else {
      if (ctx.Done()) return;
      COX_V(ctx.log(), retry == kFirstRetry ? 2 : 0, "Could not renew the lease of the node",
            {"lease", name_}, {"why", renewed.message()});
      retry = std::min<Clock::Duration>({retry * 2, kMaxRetry, period});
    }
    if (!ctx.Sleep(pause).ok()) return;
  }
}

}  // namespace cox::kubelet
