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

// A compiled FlowSchema and its level.
struct Flow {
  std::string name;
  std::string uid;
  std::string level_uid;
  flowcontrol::v1::FlowSchemaSpec spec;
  std::shared_ptr<PriorityLevel> level;
  FlowSeries series;
};
using FlowPtr = std::shared_ptr<const Flow>;

// A request in its level: in a queue, then executing. Destroying an executing ticket releases its
// seats.
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
  const bool watch;                // holds its seats only until it has started
  const std::weak_ptr<Call> call;  // for debug dumps

  // Set while it waits. Handed over under the level's lock.
  std::shared_ptr<Call> parked;
  std::shared_ptr<Ticket> self;
  // These end the waiting early. They are kept until destruction, when they have no effect any
  // more, because the thread that dispatches the ticket is not the one that set them.
  Timer wait_limit;
  StopHandle on_stop;
};
using TicketPtr = std::shared_ptr<Ticket>;

// The requests of one priority level, executing and waiting.
//
// Threads: All methods may be called concurrently. There is one lock, held for a microsecond or
//   less; `resume` is called without it.
class PriorityLevel {
 public:
  struct Hooks {
    Clock& clock;
    // Called for a waiting ticket that has got its seats. Must not block.
    std::function<void(TicketPtr)> resume;
    // Called if held seats expire later and requests wait for them, so that Poke() must be called.
    std::function<void()> wake;
  };
  PriorityLevel(std::string name, Hooks hooks, const QueueSet::Options& options, SeatLimits limits);

  const std::string& name() const { return name_; }
  // The limit for a single request: wider requests would delay others for too long.
  int max_seats() const { return max_seats_.load(std::memory_order_relaxed); }

  void Configure(const QueueSet::Options& options, SeatLimits limits);
  // No new requests are sent to this level.
  void Quiesce();
  void SetSeats(int seats);

  struct Entry {
    QueueSet::Arrival arrival;
    int64_t retry_after = 0;  // of rejected requests
  };
  // For kExecute and kWait the ticket has its place; for kWait, ticket->parked is the call.
  Entry Enter(const TicketPtr& ticket);
  // Ends the waiting. Returns the call and its Retry-After; none if the ticket does not wait.
  struct CancelledWait {
    std::shared_ptr<Call> call;
    int64_t retry_after;
  };
  std::optional<CancelledWait> CancelWait(Ticket& ticket, RejectReason why);
  // Called only by Ticket.
  void FinishExecuting(Ticket& ticket);

  // Releases expired held seats and dispatches waiting requests. Returns the time of the next call;
  // none if it is not necessary.
  std::optional<Clock::SteadyTime> Poke();
  // The demand for seats since the last call.
  SeatDemand::Summary TakeDemand();

  // For debug dumps and metrics.
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
  // Dispatches all requests that can run now.
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
  std::vector<Held> held_ COX_GUARDED_BY(mu_);  // a min-heap by due time
  bool poke_requested_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::apiserver
