// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/context.h"
#include "base/metrics.h"
#include "coxswain/client.h"

namespace cox {

struct LeaderElectionOptions {
  ObjectKey lease;       // which Lease object decides
  std::string identity;  // empty: host name and a random part
  // A leader that was not heard of for `lease_duration` is followed by another; it stops leading
  // itself when it could not renew for `renew_deadline`.
  std::chrono::milliseconds lease_duration{15'000};
  std::chrono::milliseconds renew_deadline{10'000};
  std::chrono::milliseconds retry_period{2'000};
  // Gives the Lease back when it stops, so that the next leader need not wait.
  bool release_on_stop = true;
};

// One of many processes leads: the one whose name stands in a Lease.
//
// Guarantees
//   - Leading ends here before it can begin elsewhere: by the monotonic clock, which a stopped
//     process cannot deceive, measured from before the request that renewed the Lease was sent.
//   - A client of FencedClient() refuses writes of who does not lead (any more), and names the term
//     in each request (header Coxswain-Fencing). A Coxswain API server compares it with the Lease,
//     so that even a request that was written before a long pause, and sent after, is refused. With
//     other servers the check before sending is all there is.
// Threads: all methods may be called concurrently.
class LeaderElector {
 public:
  // The client outlives the elector.
  static std::unique_ptr<LeaderElector> Create(Client& client, LeaderElectionOptions options,
                                               MetricsRegistry* metrics = nullptr);
  virtual ~LeaderElector() = default;

  // Campaigns; when it leads calls `lead` with a context that stops when the term is over, and
  // returns when `lead` has: OK if `ctx` stopped, else why the term ended. BadRequest for options
  // that contradict each other.
  virtual Status Run(Context& ctx, const std::function<void(Context& term)>& lead) = 0;

  virtual bool IsLeader() const = 0;
  virtual std::string leader() const = 0;  // who leads, as far as is known; "" if nobody
  // OK unless it has led and could not renew for longer than it may: for a health check.
  virtual Status Healthy(Clock::Duration tolerance) const = 0;

  // `client` for what only a leader may do. Both outlive it.
  virtual std::unique_ptr<Client> FencedClient(Client& client) = 0;
};

// The header of fenced requests: "<namespace>/<lease>;<holder>;<leaseTransitions>".
inline constexpr std::string_view kFencingHeader = "coxswain-fencing";

}  // namespace cox
