// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>

#include "base/mutex.h"
#include "base/scope.h"
#include "base/strings.h"
#include "coxswain/leader_election.h"
#include "sdk/election/election_options.h"
#include "sdk/election/fenced_client.h"
#include "sdk/election/lease_lock.h"
#include "sdk/election/observed_lease.h"

namespace cox {
namespace sdk {
namespace {

using SteadyTime = Clock::SteadyTime;

class Elector final : public LeaderElector, public Leadership {
 public:
  Elector(Client& client, LeaderElectionOptions options, MetricsRegistry* metrics)
      : options_(std::move(options)),
        identity_(options_.identity.empty() ? NewIdentity() : options_.identity),
        lock_(client, options_.lease),
        observed_(options_.lease_duration) {
    if (metrics == nullptr) return;
    status_ = &metrics
                   ->AddGaugeVec({"leader_election_master_status",
                                  "1 while this process leads, by the name of the Lease."},
                                 {"name"})
                   .With({options_.lease.name});
    slow_path_ = &metrics
                      ->AddCounterVec({"leader_election_slowpath_total",
                                       "Renewals of a Lease that needed to read it, by its name."},
                                      {"name"})
                      .With({options_.lease.name});
  }

  Status Run(Context& ctx, const std::function<void(Context&)>& lead) override {
    COX_RETURN_IF_ERROR(CheckOptions(options_, identity_));
    if (running_.exchange(true)) return Status::BadRequest("the elector runs already");
    Status ended;
    if (Acquire(ctx)) ended = Lead(ctx, lead);
    running_ = false;
    return ctx.Done() ? Status() : ended;
  }

  bool IsLeader() const override { return Held().has_value(); }
  std::optional<FencingToken> term() const override {
    std::optional<Hold> hold = Held();
    if (!hold) return std::nullopt;
    return std::move(hold->token);
  }
  std::string leader() const override {
    MutexLock lock(mu_);
    return observed_.holder();
  }
  std::string identity() const override { return identity_; }

  Status Healthy(Clock::Duration tolerance) const override {
    MutexLock lock(mu_);
    if (!active_) return {};
    const Clock::Duration over = active_->alive.clock().Monotonic() - active_->deadline;
    if (over <= tolerance) return {};
    return Status::Unavailable("the term of Lease " + options_.lease.ToString() +
                               " has been over for " + FormatDuration(over) +
                               ", and what it led has not ended");
  }

  std::unique_ptr<Client> FencedClient(Client& client) override {
    return MakeFencedClient(*this, client);
  }

  // --- Leadership
  std::optional<Hold> Held() const override {
    MutexLock lock(mu_);
    // By the clock, because the timer may be late.
    if (!active_ || active_->alive.clock().Monotonic() >= active_->deadline) return std::nullopt;
    return Hold{active_->token, active_->alive};
  }
  std::string WhyNot() const override {
    MutexLock lock(mu_);
    return active_
               ? "the term of " + identity_ + " in Lease " + options_.lease.ToString() + " is over"
               : identity_ + " does not hold Lease " + options_.lease.ToString();
  }
  void Depose(const FencingToken& token, const Status& why) override { End(why, &token); }

 private:
  // A term of this process, from its beginning until `lead` has returned.
  struct Active {
    FencingToken token;
    SteadyTime deadline;  // end of the term unless it is renewed
    Context alive;        // root context that stops when the term ends
  };

  // --- Before leading.

  // False if `ctx` stopped first.
  bool Acquire(Context& ctx) {
    COX_INFO(ctx.log(), "Attempting to acquire Lease", {"lease", options_.lease.ToString()},
             {"identity", identity_});
    Jitter jitter(options_.retry_period);
    std::string known;
    while (!ctx.Done()) {
      const Status status = TryAcquire(ctx);
      if (status.ok()) return true;
      if (!status.Is(Reason::kConflict) && !ctx.Done()) {
        COX_ERROR(ctx.log(), status, "Could not acquire Lease",
                  {"lease", options_.lease.ToString()});
      }
      if (std::string holder = leader(); holder != known) {
        known = std::move(holder);
        COX_INFO(ctx.log(), "Another process holds the Lease", {"lease", options_.lease.ToString()},
                 {"holder", known});
      }
      if (!ctx.Sleep(NextTry(ctx.clock()) + jitter.Next()).ok()) break;
    }
    return false;
  }

  // A retry period, or less if the Lease expires before that.
  Clock::Duration NextTry(Clock& clock) const {
    const Clock::Duration period = options_.retry_period;
    const SteadyTime now = clock.Monotonic();
    MutexLock lock(mu_);
    if (!observed_.HeldByOther(identity_, now)) return period;
    return std::min(period, Clock::Duration(observed_.Until() - now));
  }

  // Conflict: another process leads, or was faster.
  Status TryAcquire(Context& ctx) {
    Context attempt = ctx.WithTimeout(options_.renew_deadline);
    Result<Lease> found = lock_.Get(attempt);
    const bool absent = found.status().Is(Reason::kNotFound);
    if (!found.ok() && !absent) return found.status();
    Lease lease;
    FencingToken token{.lease = options_.lease, .holder = identity_};
    {
      const SteadyTime now = ctx.clock().Monotonic();
      MutexLock lock(mu_);
      if (!absent) {
        observed_.Observe(std::move(*found), now);
        if (observed_.HeldByOther(identity_, now)) return Status::Conflict("another leads");
        lease = observed_.lease();
      }
      // Term numbers continue even if the Lease was deleted.
      if (observed_.has_value()) token.transitions = NextTransition(observed_.lease().spec);
    }
    BeginTerm(lease.spec, identity_, token.transitions, options_.lease_duration,
              MicroNow(ctx.clock()));
    const SteadyTime sent = ctx.clock().Monotonic();
    Result<Lease> taken = absent ? lock_.Create(attempt, std::move(lease.spec))
                                 : lock_.Update(attempt, std::move(lease));
    if (taken.status().Is(Reason::kAlreadyExists)) return Status::Conflict("another was faster");
    if (!taken.ok()) return taken.status();
    const SteadyTime now = ctx.clock().Monotonic();
    const SteadyTime deadline = sent + options_.renew_deadline;
    MutexLock lock(mu_);
    observed_.Observe(std::move(*taken), now);
    if (now >= deadline) return Status::Timeout("the Lease was taken too slowly");
    active_.emplace(Active{std::move(token), deadline, Context(ctx.clock(), ctx.log())});
    return {};
  }

  // --- Leading.

  Status Lead(Context& ctx, const std::function<void(Context&)>& lead) {
    const Hold hold = Begun();
    Context alive = hold.until;
    Context term = ctx.Child();
    if (status_ != nullptr) status_->Set(1);
    const StopHandle end = alive.OnStop([this, term, alive]() mutable {
      if (status_ != nullptr) status_->Set(0);
      term.Stop(alive.status());
    });
    COX_INFO(ctx.log(), "Became leader", {"term", hold.token.ToString()});
    Timer timer = Arm(ctx.clock());
    Scope renewals(alive, "election");
    const Status started =
        renewals.Go("renew", [this, &timer](Context& renew) { KeepRenewing(renew, timer); });
    if (started.ok()) {
      lead(term);
    } else {
      End(started);
    }
    renewals.Stop();
    renewals.Wait();
    (void)timer.Cancel();
    const bool led_to_the_end = IsLeader();
    Status why = alive.status();
    End(Context::Canceled());
    {
      MutexLock lock(mu_);
      active_.reset();
    }
    COX_INFO(ctx.log(), "Stopped leading", {"term", hold.token.ToString()},
             {"reason", why.ok() ? "its work ended" : why.message()});
    // Only after the work has ended, and only if the Lease is still held.
    if (led_to_the_end && options_.release_on_stop) Release(ctx, hold.token);
    return why;
  }

  Hold Begun() const {
    MutexLock lock(mu_);
    return {active_->token, active_->alive};
  }

  // Ends the term; with `only`, only if it has this token. The first reason counts.
  void End(Status why, const FencingToken* only = nullptr) {
    std::optional<Context> alive;
    {
      MutexLock lock(mu_);
      if (!active_ || (only != nullptr && active_->token != *only)) return;
      alive = active_->alive;
      active_->deadline = std::min(active_->deadline, alive->clock().Monotonic());
    }
    alive->Stop(std::move(why));
  }

  // Ends the term at its deadline, unless the deadline was extended.
  Timer Arm(Clock& clock) {
    MutexLock lock(mu_);
    return clock.After(active_->deadline - clock.Monotonic(), [this, &clock] {
      std::string last_error;
      {
        MutexLock inner(mu_);
        if (!active_ || clock.Monotonic() < active_->deadline) return;
        last_error = last_error_;
      }
      End(DeposedStatus(Reason::kTimeout, "could not renew Lease " + options_.lease.ToString() +
                                              " within " + FormatDuration(options_.renew_deadline) +
                                              (last_error.empty() ? "" : ": " + last_error)));
    });
  }

  void KeepRenewing(Context& ctx, Timer& timer) {
    Jitter jitter(options_.retry_period);
    Clock::Duration wait = options_.retry_period;
    while (ctx.Sleep(wait).ok()) {
      const Status renewed = Renew(ctx);
      if (ctx.Done()) return;
      {
        MutexLock lock(mu_);
        last_error_ = renewed.message();
      }
      if (renewed.ok()) {
        timer = Arm(ctx.clock());
      } else {
        COX_ERROR(ctx.log(), renewed, "Could not renew", {"lease", options_.lease.ToString()});
      }
      wait = options_.retry_period + (renewed.ok() ? Clock::Duration() : jitter.Next());
    }
  }

  Status Renew(Context& ctx) {
    Lease lease;
    FencingToken token;
    SteadyTime sent = ctx.clock().Monotonic();
    // Half of the deadline per attempt, so that there is time for a second one if the first hangs.
    SteadyTime limit = sent + options_.renew_deadline / 2;
    {
      MutexLock lock(mu_);
      lease = observed_.lease();
      token = active_->token;
      limit = std::min(limit, active_->deadline);
    }
    Context attempt = ctx.WithDeadline(limit);
    lease.spec.renewTime = MicroNow(ctx.clock());
    Result<Lease> renewed = lock_.Update(attempt, std::move(lease));
    if (!renewed.ok()) {
      // Another client wrote the Lease, or an earlier response was lost: read it.
      if (slow_path_ != nullptr) slow_path_->Inc();
      COX_ASSIGN_OR_RETURN(Lease current, ReadOwn(attempt, token));
      sent = ctx.clock().Monotonic();
      current.spec.renewTime = MicroNow(ctx.clock());
      renewed = lock_.Update(attempt, std::move(current));
      if (!renewed.ok()) return renewed.status();
    }
    MutexLock lock(mu_);
    observed_.Observe(std::move(*renewed), ctx.clock().Monotonic());
    // A late response does not restore a term that has ended.
    if (ctx.clock().Monotonic() < active_->deadline) {
      active_->deadline = sent + options_.renew_deadline;
    }
    return {};
  }

  // Reads the Lease. Ends the term if the Lease belongs to another term.
  Result<Lease> ReadOwn(Context& ctx, const FencingToken& token) {
    Result<Lease> found = lock_.Get(ctx);
    Status lost;
    if (found.status().Is(Reason::kNotFound)) {
      lost = DeposedStatus(Reason::kConflict, "Lease " + options_.lease.ToString() + " is gone");
    } else if (!found.ok()) {
      return found.status();
    } else if (HolderOf(found->spec) != token.holder ||
               TransitionsOf(found->spec) != token.transitions) {
      const std::string holder = HolderOf(found->spec);
      lost =
          DeposedStatus(Reason::kConflict, "Lease " + options_.lease.ToString() + " is held by " +
                                               (holder.empty() ? "nobody" : holder) + " in term " +
                                               std::to_string(TransitionsOf(found->spec)));
      MutexLock lock(mu_);
      observed_.Observe(*found, ctx.clock().Monotonic());
    }
    if (lost.ok()) return found;
    End(lost);
    return lost;
  }

  void Release(const Context& ctx, const FencingToken& token) {
    // Not with the caller's context, which has usually been stopped.
    Context limit = Context(ctx.clock(), ctx.log()).WithTimeout(options_.renew_deadline / 2);
    Lease lease;
    {
      MutexLock lock(mu_);
      lease = observed_.lease();
    }
    const auto release = [&](Lease ours) {
      ReleaseLease(ours.spec, MicroNow(ctx.clock()));
      return lock_.Update(limit, std::move(ours));
    };
    Result<Lease> released = release(std::move(lease));
    if (released.status().Is(Reason::kConflict)) {
      Result<Lease> current = ReadOwn(limit, token);
      released = current.ok() ? release(std::move(*current)) : current;
    }
    if (!released.ok()) {
      COX_ERROR(ctx.log(), released.status(), "Could not release Lease",
                {"lease", options_.lease.ToString()});
      return;
    }
    MutexLock lock(mu_);
    observed_.Observe(std::move(*released), ctx.clock().Monotonic());
  }

  const LeaderElectionOptions options_;
  const std::string identity_;
  const LeaseLock lock_;
  Gauge* status_ = nullptr;
  Counter* slow_path_ = nullptr;
  std::atomic<bool> running_ = false;

  mutable Mutex mu_;
  ObservedLease observed_ COX_GUARDED_BY(mu_);
  std::optional<Active> active_ COX_GUARDED_BY(mu_);
  std::string last_error_ COX_GUARDED_BY(mu_);  // since the last successful renewal
};

}  // namespace
}  // namespace sdk

std::unique_ptr<LeaderElector> LeaderElector::Create(Client& client, LeaderElectionOptions options,
                                                     MetricsRegistry* metrics) {
  return std::make_unique<sdk::Elector>(client, std::move(options), metrics);
}

}  // namespace cox
