// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace cox {

// Why a blocked thread goes on.
enum class WakeCause : uint8_t {
  kNotified,  // the condition it waits for may hold
  kTimeout,   // its deadline has passed
  kStopped,   // its work was asked to stop
};

// The place where one thread blocks once: what it waits for calls Wake(), whatever comes first.
//
// This is what CondVar, Context and Clock have in common. It is why a wake-up is never lost between
// looking at a condition and blocking: a Wake() before Block() is remembered. Not for use above
// `base`.
//
// Guarantees: the first cause wins; later ones are ignored.
// Threads: Block() by the owner, Wake() and woken() by anyone.
// Ownership: lives on the stack of its thread, which takes it out of every list before it returns.
class Waiter {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static constexpr Deadline kNever = Deadline::max();

  Waiter() = default;
  ~Waiter() { pthread_mutex_destroy(mu_.native_handle()); }  // as ~Mutex
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // False if it was awake already.
  bool Wake(WakeCause cause);
  bool woken() const;

  // Blocks until woken, or until the real time `deadline`. Only a Clock calls this.
  WakeCause Block(Deadline deadline);

 private:
  // The standard ones: the annotated Mutex is built on top of this.
  mutable std::mutex mu_;
  std::condition_variable awake_;
  std::optional<WakeCause> cause_;
};

}  // namespace cox
