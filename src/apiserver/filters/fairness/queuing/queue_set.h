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

// One request as its level sees it. Whoever it belongs to derives from this.
struct FlowRequest {
  Work work;
  uint64_t flow = 0;  // FlowHash

  // Kept by QueueSet.
  enum class State : uint8_t { kNew, kWaiting, kExecuting, kDone };
  State state = State::kNew;
  Clock::SteadyTime arrived{};
  Clock::SteadyTime started{};
  double arrived_r = 0;        // in virtual time
  FlowQueue* queue = nullptr;  // null: its level has no queues
  FlowRequest* previous = nullptr;
  FlowRequest* next = nullptr;
};

// Requests in the order they came; each can leave from anywhere. Borrows them.
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

// One of the queues of a level. Work is measured in seat seconds.
class FlowQueue {
 public:
  FlowRequestList waiting;
  FlowRequestList executing;
  int seats_in_use = 0;     // of those that execute, and of those whose final seats are still held
  double next_r = 0;        // the virtual time at which its next request begins
  double waiting_work = 0;  // of all that wait
  int waiting_seats = 0;    // as long as they are worked on
  int waiting_max_seats = 0;

  bool active() const { return waiting.size() > 0 || seats_in_use > 0; }
};

// Who of a priority level is next: fair queuing by virtual time, over seats.
//
// A flow has a hand of queues (see DealHand) and puts each request into the one with the least work
// waiting. Time is virtual: it runs as fast as each active queue would get seats if all were served
// a bit at a time, and the next request served is the one that would then have finished first. So
// active queues get equal parts of the level's seats, measured in seats times time, however wide,
// long or many their requests are. How long one takes is guessed when it begins (3 ms) and set
// right when it ends.
//
// Guarantees: requests of one queue begin in the order they came. At most `seats` are in use, but
//   for one request that is wider than that, which then runs alone.
// Threads: one at a time; nothing here waits or knows a clock.
class QueueSet {
 public:
  struct Options {
    bool exempt = false;  // no limits at all
    int queues = 0;       // 0: what finds no seat is refused
    int hand_size = 0;
    int queue_length_limit = 0;
    bool operator==(const Options&) const = default;
  };
  QueueSet(Options options, int seats, Clock::SteadyTime now);

  // Those that wait stay where they are: fewer queues hold until they have run empty.
  void Configure(Options options, Clock::SteadyTime now);
  void SetSeats(int seats, Clock::SteadyTime now);

  enum class Arrival : uint8_t { kExecute, kWait, kNoSeat, kQueueFull };
  // A request has come. kExecute: it has its seats; kWait: Next will tell. Otherwise nothing is
  // known of it afterwards. REQUIRES: request.state == kNew
  Arrival Add(FlowRequest& request, Clock::SteadyTime now);
  // One that waited and has its seats from now on; null if none can. To be asked until it is null
  // whenever seats came free.
  FlowRequest* Next(Clock::SteadyTime now);
  // Does not wait any longer. REQUIRES: state == kWaiting
  void Withdraw(FlowRequest& request, Clock::SteadyTime now);

  // Seats that are held a while longer.
  struct Rest {
    FlowQueue* queue = nullptr;
    int seats = 0;
  };
  // Has come to its end. What remains is given back by Release, after work.after.
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
  // Of levels without queues.
  const FlowRequestList& unqueued() const { return unqueued_; }

 private:
  void Advance(Clock::SteadyTime now);
  bool Fits(int seats) const;
  FlowQueue& ChooseQueue(uint64_t flow);
  void Begin(FlowRequest& request, Clock::SteadyTime now);
  void Unwait(FlowRequest& request);
  void FreeSeats(FlowQueue* queue, int seats);
  // Before and after something that may change whether a queue is active.
  void Count(const FlowQueue& queue, int sign) { active_ += queue.active() ? sign : 0; }
  void DropSurplus();

  Options options_;
  int seats_;
  std::vector<std::unique_ptr<FlowQueue>> queues_;  // more than options_ says while they run empty
  FlowRequestList unqueued_;
  Clock::SteadyTime last_;
  double r_ = 0;
  int active_ = 0;  // queues
  int seats_in_use_ = 0;
  int seats_waiting_ = 0;  // at their widest
  size_t waiting_ = 0;
  size_t executing_ = 0;
  size_t robin_ = 0;       // the queue served last: among equals, the others come first
  uint64_t arrivals_ = 0;  // where in a hand to begin to look
};

}  // namespace cox::apiserver
