// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace cox {

// Why a blocked thread continues.
enum class WakeCause : uint8_t {
  kNotified,  // the condition it waits for may hold
  kTimeout,   // its deadline has passed
  kStopped,   // its context was stopped
};

class Fiber;

// Blocks one thread or fiber once, until any of its event sources calls Wake().
//
// The basis of CondVar, Context and Clock. A wake-up is never lost between checking a condition and
// blocking, because a Wake() before Block() is remembered. Not for use outside of `base`.
//
// Guarantees: the first cause wins; later ones are ignored.
// Threads: Block() by the owner, Wake() and woken() by any thread.
// Ownership: lives on the stack of its thread, which removes it from every list before returning.
class Waiter {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static constexpr Deadline kNever = Deadline::max();

  Waiter() = default;
  ~Waiter() { pthread_mutex_destroy(mu_.native_handle()); }  // same as ~Mutex
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // False if it was already woken.
  bool Wake(WakeCause cause);
  bool woken() const;

  // Blocks until woken, or until the real time `deadline`. Only a Clock calls this.
  // REQUIRES: `deadline` is kNever if a fiber waits.
  WakeCause Block(Deadline deadline);

 private:
  WakeCause BlockFiber(Fiber& fiber);

  // Standard types, because the annotated Mutex depends on this class.
  mutable std::mutex mu_;
  std::condition_variable awake_;
  std::optional<WakeCause> cause_;
  Fiber* fiber_ = nullptr;  // waits instead of the thread
};

}  // namespace cox
