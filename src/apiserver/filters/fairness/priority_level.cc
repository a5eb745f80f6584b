// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/priority_level.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace cox::apiserver {
namespace {

constexpr double kMaxPartOfLevel = 0.15;

int MaxSeatsOf(const SeatLimits& limits) {
  return std::max(1, static_cast<int>(std::ceil(limits.nominal * kMaxPartOfLevel)));
}

double SecondsOf(Clock::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

bool IsLater(const auto& a, const auto& b) { return a.due > b.due; }

// Updates the metrics when a request starts executing.
void CountBegin(const Ticket& ticket) {
  const FlowSeries& series = ticket.flow_schema->series;
  series.dispatched->Inc();
  series.executing->Inc();
  series.executing_seats->Add(ticket.work.MaxSeats());
  series.waited->Observe(SecondsOf(ticket.started - ticket.arrived));
}

void CountWaiting(const Ticket& ticket, int sign) {
  const FlowSeries& series = ticket.flow_schema->series;
  series.waiting->Add(sign);
  series.waiting_seats->Add(sign * ticket.work.MaxSeats());
}

void CountArrival(const Ticket& ticket, QueueSet::Arrival arrival, size_t queue_length) {
  const FlowSeries& series = ticket.flow_schema->series;
  series.seats->Observe(ticket.work.MaxSeats());
  switch (arrival) {
    case QueueSet::Arrival::kExecute:
      return CountBegin(ticket);
    case QueueSet::Arrival::kWait:
      series.queue_length->Observe(static_cast<double>(queue_length));
      return CountWaiting(ticket, +1);
    case QueueSet::Arrival::kNoSeat:
      return series.refused[static_cast<size_t>(RejectReason::kConcurrencyLimit)]->Inc();
    case QueueSet::Arrival::kQueueFull:
      return series.refused[static_cast<size_t>(RejectReason::kQueueFull)]->Inc();
  }
}

}  // namespace

Ticket::~Ticket() {
  if (state == State::kExecuting) flow_schema->level->FinishExecuting(*this);
}

PriorityLevel::PriorityLevel(std::string name, Hooks hooks, const QueueSet::Options& options,
                             SeatLimits limits)
    : name_(std::move(name)),
      hooks_(std::move(hooks)),
      max_seats_(MaxSeatsOf(limits)),
      limits_(limits),
      queues_(options, limits.nominal, hooks_.clock.Monotonic()),
      demand_(hooks_.clock.Monotonic()) {}

void PriorityLevel::Configure(const QueueSet::Options& options, SeatLimits limits) {
  max_seats_.store(MaxSeatsOf(limits), std::memory_order_relaxed);
  Resumed resumed;
  bool poke = false;
  {
    MutexLock lock(mu_);
    const Clock::SteadyTime now = hooks_.clock.Monotonic();
    const bool moved = limits.nominal != limits_.nominal;
    limits_ = limits;
    counts_.quiescing = false;
    queues_.Configure(options, now);
    // Until the next adjustment.
    queues_.SetSeats(
        moved ? limits.nominal : std::clamp(queues_.seats(), limits.lower, limits.upper), now);
    resumed = Dispatch(now);
    poke = NeedsPoke();
  }
  Finish(std::move(resumed), poke);
}

void PriorityLevel::Quiesce() {
  MutexLock lock(mu_);
  counts_.quiescing = true;
}

void PriorityLevel::SetSeats(int seats) {
  Resumed resumed;
  bool poke = false;
  {
    MutexLock lock(mu_);
    const Clock::SteadyTime now = hooks_.clock.Monotonic();
    queues_.SetSeats(seats, now);
    resumed = Dispatch(now);
    poke = NeedsPoke();
  }
  Finish(std::move(resumed), poke);
}

PriorityLevel::Entry PriorityLevel::Enter(const TicketPtr& ticket) {
  Entry entry{};
  Resumed resumed;
  bool poke = false;
  size_t length = 0;
  {
    MutexLock lock(mu_);
    const Clock::SteadyTime now = hooks_.clock.Monotonic();
    Expire(now);
    entry.arrival = queues_.Add(*ticket, now);
    switch (entry.arrival) {
      case QueueSet::Arrival::kExecute:
        ++counts_.dispatched;
        break;
      case QueueSet::Arrival::kWait:
        ticket->self = ticket;
        length = ticket->queue->waiting.size();
        // The new request may be next before a wide one that still lacks seats.
        if (queues_.seats_in_use() < queues_.seats()) resumed = Dispatch(now);
        break;
      case QueueSet::Arrival::kNoSeat:
      case QueueSet::Arrival::kQueueFull:
        ++counts_.refused;
        retry_after_.OnRejected(now);
        entry.retry_after = retry_after_.seconds();
        break;
    }
    NoteDemand(now);
    poke = NeedsPoke();
  }
  CountArrival(*ticket, entry.arrival, length);
  Finish(std::move(resumed), poke);
  return entry;
}

std::optional<PriorityLevel::CancelledWait> PriorityLevel::CancelWait(Ticket& ticket,
                                                                      RejectReason why) {
  CancelledWait cancelled_wait{};
  TicketPtr self;
  Resumed resumed;
  bool poke = false;
  Clock::Duration waited{};
  {
    MutexLock lock(mu_);
    if (ticket.state != FlowRequest::State::kWaiting) return std::nullopt;
    const Clock::SteadyTime now = hooks_.clock.Monotonic();
    queues_.Withdraw(ticket, now);
    waited = now - ticket.arrived;
    self = std::move(ticket.self);
    cancelled_wait.call = std::move(ticket.parked);
    ++(why == RejectReason::kTimeOut ? counts_.timed_out : counts_.cancelled);
    ++counts_.refused;
    retry_after_.OnRejected(now);
    cancelled_wait.retry_after = retry_after_.seconds();
    // A wide request may have blocked narrower ones.
    resumed = Dispatch(now);
    NoteDemand(now);
    poke = NeedsPoke();
  }
  const FlowSeries& series = ticket.flow_schema->series;
  series.refused[static_cast<size_t>(why)]->Inc();
  series.wait_rejected->Observe(SecondsOf(waited));
  CountWaiting(ticket, -1);
  Finish(std::move(resumed), poke);
  return cancelled_wait;
}

void PriorityLevel::FinishExecuting(Ticket& ticket) {
  Resumed resumed;
  bool poke = false;
  Clock::Duration took{};
  {
    MutexLock lock(mu_);
    const Clock::SteadyTime now = hooks_.clock.Monotonic();
    took = now - ticket.started;
    const QueueSet::Rest rest = queues_.Finish(ticket, now);
    if (rest.seats > 0) {
      held_.push_back({now + ticket.work.after, rest});
      std::push_heap(held_.begin(), held_.end(), IsLater<Held, Held>);
    }
    resumed = Dispatch(now);
    NoteDemand(now);
    poke = NeedsPoke();
  }
  const FlowSeries& series = ticket.flow_schema->series;
  series.executing->Add(-1);
  series.executing_seats->Add(-ticket.work.MaxSeats());
  (ticket.watch ? series.took_watch : series.took)->Observe(SecondsOf(took));
  Finish(std::move(resumed), poke);
}

void PriorityLevel::Expire(Clock::SteadyTime now) {
  while (!held_.empty() && held_.front().due <= now) {
    queues_.Release(held_.front().rest, now);
    std::pop_heap(held_.begin(), held_.end(), IsLater<Held, Held>);
    held_.pop_back();
  }
}

PriorityLevel::Resumed PriorityLevel::Dispatch(Clock::SteadyTime now) {
  Expire(now);
  Resumed resumed;
  while (FlowRequest* next = queues_.Next(now)) {
    ++counts_.dispatched;
    resumed.push_back(std::move(static_cast<Ticket*>(next)->self));
  }
  return resumed;
}

void PriorityLevel::NoteDemand(Clock::SteadyTime now) {
  demand_.Set(queues_.seats_in_use() + queues_.seats_waiting(), now);
}

// True only once until Poke is called.
bool PriorityLevel::NeedsPoke() {
  if (held_.empty() || queues_.waiting() == 0) return false;
  return !std::exchange(poke_requested_, true);
}

void PriorityLevel::Finish(Resumed resumed, bool poke) {
  for (TicketPtr& ticket : resumed) {
    CountWaiting(*ticket, -1);
    CountBegin(*ticket);
    hooks_.resume(std::move(ticket));
  }
  if (poke) hooks_.wake();
}

std::optional<Clock::SteadyTime> PriorityLevel::Poke() {
  Resumed resumed;
  std::optional<Clock::SteadyTime> again;
  {
    MutexLock lock(mu_);
    const Clock::SteadyTime now = hooks_.clock.Monotonic();
    resumed = Dispatch(now);
    NoteDemand(now);
    poke_requested_ = !held_.empty() && queues_.waiting() > 0;
    if (poke_requested_) again = held_.front().due;
  }
  Finish(std::move(resumed), /*poke=*/false);
  return again;
}

SeatDemand::Summary PriorityLevel::TakeDemand() {
  MutexLock lock(mu_);
  const Clock::SteadyTime now = hooks_.clock.Monotonic();
  Expire(now);
  NoteDemand(now);
  return demand_.Take(now);
}

void PriorityLevel::Inspect(const std::function<void(const QueueSet&, const Counts&)>& look) const {
  MutexLock lock(mu_);
  look(queues_, counts_);
}

SeatLimits PriorityLevel::limits() const {
  MutexLock lock(mu_);
  return limits_;
}

bool PriorityLevel::idle() const {
  MutexLock lock(mu_);
  return queues_.idle();
}

}  // namespace cox::apiserver
