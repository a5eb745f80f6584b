// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <pthread.h>

#include <thread>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "base/timer_queue.h"

namespace cox {

Clock::SteadyTime Clock::In(Duration delay) const {
  const SteadyTime now = Monotonic();
  return delay > kNever - now ? kNever : now + delay;
}

class RealClock::TimerThread {
 public:
  TimerThread(RealClock& clock, internal::TimerQueue& timers) : clock_(clock), timers_(timers) {}

  ~TimerThread() {
    {
      MutexLock lock(mu_);
      stop_ = true;
    }
    changed_.NotifyOne();
    if (!thread_.joinable()) return;
    COX_CHECK(thread_.get_id() != std::this_thread::get_id())
        << "a timer's callback ends its clock";
    thread_.join();
  }

  // Must be called after a timer was added.
  void Added() {
    MutexLock lock(mu_);
    if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
    changed_.NotifyOne();
  }

 private:
  void Run() {
    pthread_setname_np(pthread_self(), "timers");
    MutexLock lock(mu_);
    while (!stop_) {
      const SteadyTime due = timers_.NextDue();
      if (due > clock_.Monotonic()) {
        changed_.WaitUntil(mu_, clock_, due);
        continue;
      }
      lock.Unlock();
      timers_.RunFirst(clock_.Monotonic());
      lock.Lock();
    }
  }

  RealClock& clock_;
  internal::TimerQueue& timers_;
  Mutex mu_;
  CondVar changed_;
  bool stop_ COX_GUARDED_BY(mu_) = false;
  std::thread thread_;  // set under mu_; joined by the destructor
};

RealClock::RealClock()
    : timers_(std::make_shared<internal::TimerQueue>()),
      thread_(std::make_unique<TimerThread>(*this, *timers_)) {}

RealClock::~RealClock() { timers_->Close(); }

Clock::WallTime RealClock::Now() const { return std::chrono::system_clock::now(); }
Clock::SteadyTime RealClock::Monotonic() const { return std::chrono::steady_clock::now(); }

Timer RealClock::After(Duration delay, std::function<void()> callback) {
  Timer timer = timers_->Add(In(delay), std::move(callback));
  thread_->Added();
  return timer;
}

WakeCause RealClock::Park(Waiter& waiter, SteadyTime deadline) { return waiter.Block(deadline); }

}  // namespace cox
