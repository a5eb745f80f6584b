// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/context.h"
#include "base/metrics.h"
#include "coxswain/client.h"
#include "coxswain/fencing.h"

namespace cox {

// REQUIRES: lease_duration > renew_deadline > 1.2 * retry_period > 0, as in client-go.
struct LeaderElectionOptions {
  ObjectKey lease;  // the Lease object used as the lock; created if it does not exist
  // Unique to this process; visible ASCII, at most 512 characters. Empty: the host name and a
  // random suffix. A process that finds its own identity in the Lease treats it as left by an
  // earlier run and starts a new term at once.
  std::string identity;
  // Another candidate takes over if the leader has not renewed for `lease_duration` (rounded up to
  // whole seconds, the resolution of the Lease). The leader stops leading if it could not renew for
  // `renew_deadline`.
  std::chrono::milliseconds lease_duration{15'000};
  std::chrono::milliseconds renew_deadline{10'000};
  std::chrono::milliseconds retry_period{2'000};
  // Releases the Lease on stop, so that the next leader does not have to wait.
  bool release_on_stop = true;
};

// Leader election among processes through a Lease. Compatible with client-go's protocol: programs
// of both implementations can compete for the same Lease.
//
//   auto elector = LeaderElector::Create(client, {.lease = {"kube-system", "backup-operator"}});
//   std::unique_ptr<Client> fenced = elector->FencedClient(client);
//   Status ended = elector->Run(ctx, [&](Context& term) { Work(term, *fenced); });
//
// Guarantees
//   - Leadership ends in this process before it can begin in another: renew_deadline after the time
//     just *before* the last successful renewal was sent, by the monotonic clock, which continues
//     while the process is stopped (SIGSTOP, a frozen virtual machine that keeps its clock, long
//     swapping). Wall clocks are not compared: a candidate waits for lease_duration after it
//     observed the last change.
//   - A timer stops the context `term` at that time. IsLeader() and fenced clients do not rely on
//     the timer; they check the clock directly before each write.
//   - A request can be delayed between that check and the server. Therefore a fenced client sends
//     the term with each write (fencing.h), and a Coxswain API server rejects writes from a past
//     term. With other servers, the check before sending is the only protection.
//   - A leader that finds another term in the Lease, or no Lease, has lost leadership even if it
//     could acquire it again: Run returns, because the state of `lead` belongs to the earlier term.
//   - If there is no leader and the server is available, a candidate becomes leader after at most
//     lease_duration and two retry_periods; after one retry_period if the Lease was released.
// Threads: all methods may be called concurrently, but Run only by one thread at a time.
// Ownership: the client must outlive the elector, and the elector its fenced clients.
class LeaderElector {
 public:
  // Registers leader_election_master_status and leader_election_slowpath_total, labeled with the
  // Lease's name, in `metrics`. A registry supports one elector.
  static std::unique_ptr<LeaderElector> Create(Client& client, LeaderElectionOptions options,
                                               MetricsRegistry* metrics = nullptr);
  virtual ~LeaderElector() = default;

  // Campaigns. As leader, calls `lead` with a context that stops when the term ends, and returns
  // after `lead` returns. Renews the Lease until then, also while `lead` finishes after `ctx`
  // stopped, and then releases it. Returns OK if `ctx` stopped or `lead` returned on its own,
  // otherwise the reason why the term ended; BadRequest for inconsistent options.
  virtual Status Run(Context& ctx, const std::function<void(Context& term)>& lead) = 0;

  virtual bool IsLeader() const = 0;
  // The term in which this process leads; no value if it does not lead, checked by the clock.
  virtual std::optional<FencingToken> term() const = 0;
  virtual std::string leader() const = 0;    // last observed leader; "" if none
  virtual std::string identity() const = 0;  // the holder identity written to the Lease
  // For a liveness check. Not OK if the term ended more than `tolerance` ago and `lead` has not
  // returned, so that the process is restarted.
  virtual Status Healthy(Clock::Duration tolerance) const = 0;

  // A client for operations that only the leader may perform. Writes are rejected before they are
  // sent if this process does not lead, canceled when the term ends, and sent with the fencing
  // header. For rejected writes IsDeposed() is true. Reads are not affected. Requests through
  // transport() are not fenced.
  // Lifetime: `client` must outlive the returned client.
  virtual std::unique_ptr<Client> FencedClient(Client& client) = 0;
};

}  // namespace cox
