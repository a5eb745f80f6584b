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

// REQUIRES: lease_duration > renew_deadline > 1.2 * retry_period > 0, as client-go demands.
struct LeaderElectionOptions {
  ObjectKey lease;  // which Lease object decides; it is made if it is not there
  // Of this process alone; visible ASCII, at most 512 characters. Empty: the host's name and a
  // random part. A process that finds its own identity in the Lease takes it for its former life
  // and begins a new term at once.
  std::string identity;
  // A leader that was not heard of for `lease_duration` (in whole seconds, rounded up: the Lease
  // has no finer ones) is followed by another; it stops leading itself when it could not renew
  // for `renew_deadline`.
  std::chrono::milliseconds lease_duration{15'000};
  std::chrono::milliseconds renew_deadline{10'000};
  std::chrono::milliseconds retry_period{2'000};
  // Gives the Lease back when it stops, so that the next leader need not wait.
  bool release_on_stop = true;
};

// One of many processes leads: the one whose name stands in a Lease. Speaks client-go's protocol:
// programs of both kinds can stand for the same Lease.
//
//   auto elector = LeaderElector::Create(client, {.lease = {"kube-system", "backup-operator"}});
//   std::unique_ptr<Client> fenced = elector->FencedClient(client);
//   Status ended = elector->Run(ctx, [&](Context& term) { Work(term, *fenced); });
//
// Guarantees
//   - Leading ends here before it can begin elsewhere: renew_deadline after the moment *before* the
//     request was sent that renewed the Lease last, by the monotonic clock, which runs on while the
//     process is stopped (SIGSTOP, a frozen virtual machine that keeps its clock, a long swap). No
//     wall clocks are compared: a candidate waits for lease_duration after it saw the last change.
//   - The context `term` stops at that moment by a timer. IsLeader() and fenced clients look at the
//     clock themselves, right before each write, and do not rely on the timer.
//   - A request can be delayed between that look and the server. A fenced client therefore names
//     the term in each write (fencing.h), and a Coxswain API server refuses those of a term that is
//     over. With other servers the look before sending is all there is.
//   - A leader that finds another term in the Lease, or no Lease, has lost, even if it could take
//     it back: Run returns. What `lead` knew is of a former term.
//   - Without a leader, a candidate leads after at most lease_duration and two retry_periods, when
//     the server answers; after one retry_period if the Lease was given back.
// Threads: all methods may be called concurrently; Run by one at a time.
// Ownership: the client outlives the elector, the elector outlives its fenced clients.
class LeaderElector {
 public:
  // `metrics` gets leader_election_master_status and leader_election_slowpath_total, by the
  // Lease's name; a registry takes them of one elector.
  static std::unique_ptr<LeaderElector> Create(Client& client, LeaderElectionOptions options,
                                               MetricsRegistry* metrics = nullptr);
  virtual ~LeaderElector() = default;

  // Campaigns; when it leads calls `lead` with a context that stops when the term is over, and
  // returns when `lead` has. The Lease is renewed until then, also while `lead` finishes after
  // `ctx` stopped, and then given back. OK if `ctx` stopped or `lead` returned by itself, else why
  // the term ended; BadRequest for options that contradict each other.
  virtual Status Run(Context& ctx, const std::function<void(Context& term)>& lead) = 0;

  virtual bool IsLeader() const = 0;
  // The term in which this process leads; none if it does not, by the clock.
  virtual std::optional<FencingToken> term() const = 0;
  virtual std::string leader() const = 0;    // who leads, as far as is known; "" if nobody
  virtual std::string identity() const = 0;  // as it stands in the Lease while this one leads
  // For a health check. Not OK when the term has been over for longer than `tolerance` and `lead`
  // has not returned: whatever hangs there, the process is better started anew.
  virtual Status Healthy(Clock::Duration tolerance) const = 0;

  // `client` for what only a leader may do: writes of who does not lead are refused before they
  // are sent, writes in flight are given up when the term ends, and the server is told the term.
  // Refusals are IsDeposed(). Reads pass. What goes through transport() is not fenced.
  // `client` outlives it.
  virtual std::unique_ptr<Client> FencedClient(Client& client) = 0;
};

}  // namespace cox
