// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/flowcontrol/v1.h"
#include "apiserver/filters/fairness/fairness_metrics.h"
#include "apiserver/filters/fairness/queuing/queue_set.h"
#include "apiserver/filters/fairness/queuing/seat_allocation.h"
#include "apiserver/filters/fairness/retry_after.h"
#include "apiserver/request/call.h"
#include "base/mutex.h"

namespace cox::apiserver {

class PriorityLevel;

// A FlowSchema made ready: what it matches, where its requests go.
struct Flow {
  std::string name;
  std::string uid;
  std::string level_uid;
  flowcontrol::v1::FlowSchemaSpec spec;
  std::shared_ptr<PriorityLevel> level;
  FlowSeries series;
};
using FlowPtr = std::shared_ptr<const Flow>;

// A request's place in its level: in a queue, then in its seats. Letting go of the last reference
// while it has seats gives them back.
class Ticket final : public FlowRequest {
 public:
  Ticket(FlowPtr of, std::string distinguished, const std::shared_ptr<Call>& made_for)
      : flow_schema(std::move(of)),
        distinguisher(std::move(distinguished)),
        watch(made_for->info.verb == "watch"),
        call(made_for) {}
  ~Ticket();
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  const FlowPtr flow_schema;
  const std::string distinguisher;
  const bool watch;                // holds its seats only until it has begun
  const std::weak_ptr<Call> call;  // for who looks

  // While it waits. Handed over under the level's lock.
  std::shared_ptr<Call> parked;
  std::shared_ptr<Ticket> self;
  // What ends the waiting early; kept until the end, when they mean nothing any more, since
  // whoever gives it its seats is not who made these.
  Timer wait_limit;
  StopHandle on_stop;
};
using TicketPtr = std::shared_ptr<Ticket>;

// The requests of one priority level: how many run, who waits, who is next.
//
// Threads: all methods may be called concurrently. One lock, held for a microsecond or less; what
//   `resume` does is done without it.
class PriorityLevel {
 public:
  struct Hooks {
    Clock& clock;
    // One that waited has its seats. Must not block.
    std::function<void(TicketPtr)> resume;
    // Seats will come free by time alone, and somebody waits for them: Poke() is wanted.
    std::function<void()> wake;
  };
  PriorityLevel(std::string name, Hooks hooks, const QueueSet::Options& options, SeatLimits limits);

  const std::string& name() const { return name_; }
  // What a single request may have: wider ones would hold up everybody else for long.
  int max_seats() const { return max_seats_.load(std::memory_order_relaxed); }

  void Configure(const QueueSet::Options& options, SeatLimits limits);
  // Nobody is sent here any more.
  void Quiesce();
  void SetSeats(int seats);

  struct Entry {
    QueueSet::Arrival arrival;
    int64_t retry_after = 0;  // of those refused
  };
  // kExecute and kWait: the ticket has its place; for kWait, ticket->parked is the call.
  Entry Enter(const TicketPtr& ticket);
  // Waits no longer: the call, and when it may try again. None if it did not wait.
  struct GivenUp {
    std::shared_ptr<Call> call;
    int64_t retry_after;
  };
  std::optional<GivenUp> GiveUp(Ticket& ticket, Refusal why);
  // Of tickets alone.
  void Leave(Ticket& ticket);

  // Gives back seats whose time is over, to those who wait. When to come again; none: not needed.
  std::optional<Clock::SteadyTime> Poke();
  // How many seats were wanted since the last time it was asked.
  SeatDemand::Summary TakeDemand();

  // For those who look.
  struct Counts {
    uint64_t dispatched = 0, refused = 0, timed_out = 0, cancelled = 0;
    bool quiescing = false;
  };
  void Inspect(const std::function<void(const QueueSet&, const Counts&)>& look) const;
  SeatLimits limits() const;
  bool idle() const;

 private:
  struct Held {
    Clock::SteadyTime due;
    QueueSet::Rest rest;
  };
  using Resumed = std::vector<TicketPtr>;
  void Expire(Clock::SteadyTime now) COX_REQUIRES(mu_);
  // All that can run now.
  Resumed Dispatch(Clock::SteadyTime now) COX_REQUIRES(mu_);
  void NoteDemand(Clock::SteadyTime now) COX_REQUIRES(mu_);
  bool NeedsPoke() COX_REQUIRES(mu_);
  void Finish(Resumed resumed, bool poke);

  const std::string name_;
  const Hooks hooks_;
  std::atomic<int> max_seats_;
  mutable Mutex mu_;
  SeatLimits limits_ COX_GUARDED_BY(mu_);
  QueueSet queues_ COX_GUARDED_BY(mu_);
  SeatDemand demand_ COX_GUARDED_BY(mu_);
  RetryAfter retry_after_ COX_GUARDED_BY(mu_);
  Counts counts_ COX_GUARDED_BY(mu_);
  std::vector<Held> held_ COX_GUARDED_BY(mu_);  // a heap: the first due is in front
  bool poke_asked_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::apiserver
