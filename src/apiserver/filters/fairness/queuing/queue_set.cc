// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/queuing/queue_set.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <span>

#include "apiserver/filters/fairness/queuing/shuffle_shard.h"
#include "base/check.h"

namespace cox::apiserver {
namespace {

// The estimated duration of a request, until it is known.
constexpr std::chrono::milliseconds kGuess{3};
// The API allows larger hands only with fewer queues.
constexpr size_t kMaxHand = 64;

double SecondsOf(Clock::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// In seat seconds.
double CostOf(const Work& work) {
  return work.seats * SecondsOf(kGuess) + work.final_seats * SecondsOf(work.after);
}

}  // namespace

void FlowRequestList::Push(FlowRequest& request) {
  request.previous = back_;
  request.next = nullptr;
  (back_ != nullptr ? back_->next : front_) = &request;
  back_ = &request;
  ++size_;
}

void FlowRequestList::Remove(FlowRequest& request) {
  (request.previous != nullptr ? request.previous->next : front_) = request.next;
  (request.next != nullptr ? request.next->previous : back_) = request.previous;
  request.previous = request.next = nullptr;
  --size_;
}

QueueSet::QueueSet(Options options, int seats, Clock::SteadyTime now) : seats_(seats), last_(now) {
  Configure(options, now);
}

void QueueSet::Configure(Options options, Clock::SteadyTime now) {
  Advance(now);
  options_ = options;
  if (options_.exempt) options_.queues = 0;
  options_.hand_size = std::clamp(options_.hand_size, 1, static_cast<int>(kMaxHand));
  if (options_.queues > 0) options_.hand_size = std::min(options_.hand_size, options_.queues);
  while (queues_.size() < static_cast<size_t>(options_.queues)) {
    queues_.push_back(std::make_unique<FlowQueue>());
  }
  DropSurplus();
}

void QueueSet::SetSeats(int seats, Clock::SteadyTime now) {
  Advance(now);
  seats_ = seats;
}

void QueueSet::DropSurplus() {
  while (queues_.size() > static_cast<size_t>(options_.queues) && !queues_.back()->active()) {
    queues_.pop_back();
  }
}

// Advances virtual time by each active queue's share since the last call.
void QueueSet::Advance(Clock::SteadyTime now) {
  if (now <= last_) return;
  if (active_ > 0) {
    const int working = std::min(seats_in_use_ + seats_waiting_, seats_);
    r_ += SecondsOf(now - last_) * working / active_;
  } else {
    r_ = 0;  // not in use; resetting it preserves precision
  }
  last_ = now;
}

bool QueueSet::Fits(int seats) const {
  if (options_.exempt) return true;
  // A request wider than the level waits until it can run alone.
  if (seats > seats_) return executing_ == 0 && seats_in_use_ == 0;
  return seats_in_use_ + seats <= seats_;
}

FlowQueue& QueueSet::ChooseQueue(uint64_t flow) {
  std::array<int, kMaxHand> room;
  const std::span<int> hand(room.data(), static_cast<size_t>(options_.hand_size));
  DealHand(flow, options_.queues, hand);
  // Starts at a different queue each time, so that flows with overlapping hands do not meet in the
  // first one.
  const size_t first = arrivals_++ % hand.size();
  FlowQueue* best = nullptr;
  for (size_t i = 0; i < hand.size(); ++i) {
    FlowQueue& queue = *queues_[static_cast<size_t>(hand[(first + i) % hand.size()])];
    if (best == nullptr || queue.waiting_work < best->waiting_work) best = &queue;
  }
  return *best;
}

// Assigns the seats.
void QueueSet::Begin(FlowRequest& request, Clock::SteadyTime now) {
  request.state = FlowRequest::State::kExecuting;
  request.started = now;
  const int seats = request.work.MaxSeats();
  seats_in_use_ += seats;
  ++executing_;
  if (request.queue == nullptr) return unqueued_.Push(request);
  FlowQueue& queue = *request.queue;
  Count(queue, -1);
  queue.executing.Push(request);
  queue.seats_in_use += seats;
  queue.next_r += CostOf(request.work);
  Count(queue, +1);
}

QueueSet::Arrival QueueSet::Add(FlowRequest& request, Clock::SteadyTime now) {
  Advance(now);
  request.arrived = now;
  request.arrived_r = r_;
  const int seats = request.work.MaxSeats();
  if (options_.exempt || options_.queues == 0) {
    if (!Fits(seats)) return Arrival::kNoSeat;
    Begin(request, now);
    return Arrival::kExecute;
  }
  FlowQueue& queue = ChooseQueue(request.flow);
  // Checked even if seats are free, because a wide request at the head may need more.
  const size_t limit = static_cast<size_t>(std::max(options_.queue_length_limit, 1));
  if (queue.waiting.size() >= limit) return Arrival::kQueueFull;
  // A queue that was idle gets no credit for unused time.
  if (!queue.active()) queue.next_r = r_;
  request.queue = &queue;
  // No other request waits.
  if (waiting_ == 0 && Fits(seats)) {
    Begin(request, now);
    return Arrival::kExecute;
  }
  Count(queue, -1);
  request.state = FlowRequest::State::kWaiting;
  queue.waiting.Push(request);
  queue.waiting_work += CostOf(request.work);
  queue.waiting_seats += request.work.seats;
  queue.waiting_max_seats += seats;
  seats_waiting_ += seats;
  ++waiting_;
  Count(queue, +1);
  return Arrival::kWait;
}

void QueueSet::Unwait(FlowRequest& request) {
  FlowQueue& queue = *request.queue;
  const int seats = request.work.MaxSeats();
  Count(queue, -1);
  queue.waiting.Remove(request);
  queue.waiting_seats -= request.work.seats;
  queue.waiting_max_seats -= seats;
  // Avoids accumulated rounding errors.
  queue.waiting_work = queue.waiting.size() == 0 ? 0 : queue.waiting_work - CostOf(request.work);
  seats_waiting_ -= seats;
  --waiting_;
  Count(queue, +1);
}

FlowRequest* QueueSet::Next(Clock::SteadyTime now) {
  if (waiting_ == 0) return nullptr;
  Advance(now);
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < queues_.size(); ++i) {
    const size_t at = (robin_ + 1 + i) % queues_.size();
    const FlowRequest* const head = queues_[at]->waiting.front();
    if (head == nullptr) continue;
    const double finish = queues_[at]->next_r + CostOf(head->work);
    if (finish < least) least = finish, best = at;
  }
  FlowRequest& request = *queues_[best]->waiting.front();
  // A narrower request behind it must not pass, or wide requests would starve.
  if (!Fits(request.work.MaxSeats())) return nullptr;
  robin_ = best;
  Unwait(request);
  Begin(request, now);
  return &request;
}

void QueueSet::Withdraw(FlowRequest& request, Clock::SteadyTime now) {
  COX_CHECK(request.state == FlowRequest::State::kWaiting);
  Advance(now);
  Unwait(request);
  request.state = FlowRequest::State::kDone;
  DropSurplus();
}

void QueueSet::FreeSeats(FlowQueue* queue, int seats) {
  seats_in_use_ -= seats;
  if (queue == nullptr) return;
  Count(*queue, -1);
  queue->seats_in_use -= seats;
  Count(*queue, +1);
}

QueueSet::Rest QueueSet::Finish(FlowRequest& request, Clock::SteadyTime now) {
  COX_CHECK(request.state == FlowRequest::State::kExecuting);
  Advance(now);
  request.state = FlowRequest::State::kDone;
  --executing_;
  FlowQueue* const queue = request.queue;
  (queue == nullptr ? unqueued_ : queue->executing).Remove(request);
  if (queue != nullptr) {
    const double took = SecondsOf(now - request.started);
    queue->next_r += request.work.seats * (took - SecondsOf(kGuess));
    // No credit from before the oldest waiting request arrived.
    if (const FlowRequest* const head = queue->waiting.front()) {
      queue->next_r = std::max(queue->next_r, head->arrived_r);
    }
  }
  const int rest = request.work.after > Clock::Duration::zero() ? request.work.final_seats : 0;
  FreeSeats(queue, request.work.MaxSeats() - rest);
  if (rest == 0) DropSurplus();
  return {queue, rest};
}

void QueueSet::Release(const Rest& rest, Clock::SteadyTime now) {
  Advance(now);
  FreeSeats(rest.queue, rest.seats);
  DropSurplus();
}

}  // namespace cox::apiserver
