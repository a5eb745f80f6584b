// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "apiserver/filters/fairness/queuing/work_estimate.h"
#include "base/clock.h"

namespace cox::apiserver {

class FlowQueue;

// A request in a QueueSet. The owner derives from this.
struct FlowRequest {
  Work work;
  uint64_t flow = 0;  // FlowHash

  // Maintained by QueueSet.
  enum class State : uint8_t { kNew, kWaiting, kExecuting, kDone };
  State state = State::kNew;
  Clock::SteadyTime arrived{};
  Clock::SteadyTime started{};
  double arrived_r = 0;        // in virtual time
  FlowQueue* queue = nullptr;  // null: the level has no queues
  FlowRequest* previous = nullptr;
  FlowRequest* next = nullptr;
};

// An intrusive FIFO list of requests with removal at any position. Borrows them.
class FlowRequestList {
 public:
  void Push(FlowRequest& request);
  void Remove(FlowRequest& request);
  FlowRequest* front() const { return front_; }
  size_t size() const { return size_; }

 private:
  FlowRequest* front_ = nullptr;
  FlowRequest* back_ = nullptr;
  size_t size_ = 0;
};

// A queue of a level. Work is measured in seat seconds.
class FlowQueue {
 public:
  FlowRequestList waiting;
  FlowRequestList executing;
  int seats_in_use = 0;     // of executing requests and of final seats that are still held
  double next_r = 0;        // the virtual start time of the next request
  double waiting_work = 0;  // of all waiting requests
  int waiting_seats = 0;    // initial seats, without final seats
  int waiting_max_seats = 0;

  bool active() const { return waiting.size() > 0 || seats_in_use > 0; }
};

// The queues of a priority level: fair queuing by virtual time, over seats.
//
// A flow has a hand of queues (see DealHand) and adds each request to the one with the least
// waiting work. Virtual time advances at the rate at which each active queue would get seats if all
// were served bit by bit; the next request is the one that would finish first in that order.
// Therefore active queues get equal shares of the level's seats, measured in seats times time,
// regardless of the width, duration and number of their requests. The duration of a request is
// estimated when it starts (3 ms) and corrected when it ends.
//
// Guarantees: Requests of one queue start in FIFO order. At most `seats` are in use, except for one
//   request that is wider than that, which then runs alone.
// Threads: One at a time; nothing blocks or reads a clock.
class QueueSet {
 public:
  struct Options {
    bool exempt = false;  // no limits
    int queues = 0;       // 0: requests without a free seat are rejected
    int hand_size = 0;
    int queue_length_limit = 0;
    bool operator==(const Options&) const = default;
  };
  QueueSet(Options options, int seats, Clock::SteadyTime now);

  // Waiting requests stay in their queues: surplus queues are removed when they are empty.
  void Configure(Options options, Clock::SteadyTime now);
  void SetSeats(int seats, Clock::SteadyTime now);

  enum class Arrival : uint8_t { kExecute, kWait, kNoSeat, kQueueFull };
  // Adds a request. kExecute: it has its seats; kWait: Next will return it. Otherwise it is not
  // stored. REQUIRES: request.state == kNew
  Arrival Add(FlowRequest& request, Clock::SteadyTime now);
  // Dispatches a waiting request; null if none fits. Must be called until it returns null whenever
  // seats have been released.
  FlowRequest* Next(Clock::SteadyTime now);
  // Removes a waiting request. REQUIRES: state == kWaiting
  void Withdraw(FlowRequest& request, Clock::SteadyTime now);

  // Seats that are held for a while longer.
  struct Rest {
    FlowQueue* queue = nullptr;
    int seats = 0;
  };
  // Ends a request. The remaining seats must be given to Release after work.after.
  // REQUIRES: state == kExecuting
  Rest Finish(FlowRequest& request, Clock::SteadyTime now);
  void Release(const Rest& rest, Clock::SteadyTime now);

  const Options& options() const { return options_; }
  int seats() const { return seats_; }
  int seats_in_use() const { return seats_in_use_; }
  int seats_waiting() const { return seats_waiting_; }
  size_t waiting() const { return waiting_; }
  size_t executing() const { return executing_; }
  bool idle() const { return waiting_ == 0 && executing_ == 0 && seats_in_use_ == 0; }
  double virtual_time() const { return r_; }
  const std::vector<std::unique_ptr<FlowQueue>>& queues() const { return queues_; }
  // The executing requests of a level without queues.
  const FlowRequestList& unqueued() const { return unqueued_; }

 private:
  void Advance(Clock::SteadyTime now);
  bool Fits(int seats) const;
  FlowQueue& ChooseQueue(uint64_t flow);
  void Begin(FlowRequest& request, Clock::SteadyTime now);
  void Unwait(FlowRequest& request);
  void FreeSeats(FlowQueue* queue, int seats);
  // Called before and after changes that may affect whether a queue is active.
  void Count(const FlowQueue& queue, int sign) { active_ += queue.active() ? sign : 0; }
  void DropSurplus();

  Options options_;
  int seats_;
  std::vector<std::unique_ptr<FlowQueue>> queues_;  // may exceed options_ until they are empty
  FlowRequestList unqueued_;
  Clock::SteadyTime last_;
  double r_ = 0;
  int active_ = 0;  // number of active queues
  int seats_in_use_ = 0;
  int seats_waiting_ = 0;  // maximum of initial and final seats
  size_t waiting_ = 0;
  size_t executing_ = 0;
  size_t robin_ = 0;       // the queue served last, for round-robin among equals
  uint64_t arrivals_ = 0;  // selects the first queue to try in a hand
};

}  // namespace cox::apiserver
