// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <pthread.h>

#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/fiber.h"
#include "base/timer_queue.h"

namespace cox {

Clock::SteadyTime Clock::In(Duration delay) const {
  const SteadyTime now = Monotonic();
  return delay > kNever - now ? kNever : now + delay;
}

class RealClock::TimerThread {
 public:
  TimerThread(RealClock& clock, internal::TimerQueue& timers) : clock_(clock), timers_(timers) {}

  // REQUIRES: the queue is closed.
  ~TimerThread() {
    if (!thread_.joinable()) return;
    COX_CHECK(thread_.get_id() != std::this_thread::get_id())
        << "a timer's callback ends its clock";
    thread_.join();
  }

  void Start() {
    std::call_once(started_, [this] { thread_ = std::thread([this] { Run(); }); });
  }

 private:
  void Run() {
    pthread_setname_np(pthread_self(), "timers");
    while (timers_.WaitUntilDue(clock_)) timers_.RunFirst(clock_.Monotonic());
  }

  RealClock& clock_;
  internal::TimerQueue& timers_;
  std::once_flag started_;
  std::thread thread_;  // set once; joined by the destructor
};

RealClock::RealClock()
    : timers_(std::make_shared<internal::TimerQueue>()),
      thread_(std::make_unique<TimerThread>(*this, *timers_)) {}

RealClock::~RealClock() { timers_->Close(); }

Clock::WallTime RealClock::Now() const { return std::chrono::system_clock::now(); }
Clock::SteadyTime RealClock::Monotonic() const { return std::chrono::steady_clock::now(); }

Timer RealClock::After(Duration delay, std::function<void()> callback) {
  Timer timer = timers_->Add(In(delay), std::move(callback));
  thread_->Start();
  return timer;
}

WakeCause RealClock::Park(Waiter& waiter, SteadyTime deadline) {
  if (deadline == kNever || Fiber::Current() == nullptr) return waiter.Block(deadline);
  const Timer timer =
      After(deadline - Monotonic(), [&waiter] { waiter.Wake(WakeCause::kTimeout); });
  return waiter.Block(kNever);
}

}  // namespace cox
