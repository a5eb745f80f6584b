// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <utility>

namespace cox::simulate {

// Limits concurrent work without blocking: a semaphore with callbacks, first come, first served.
//
// Threads: one thread.
class Permits {
 public:
  // Called with a permit. Returns false if it is not needed any more, which releases it.
  using Granted = std::function<bool()>;

  explicit Permits(int count) : free_(count) {}

  bool TryAcquire() {
    if (free_ == 0 || !waiting_.empty()) return false;
    --free_;
    return true;
  }
  // Calls `granted` inside this function if a permit is free, else inside a later Release.
  void Acquire(Granted granted) {
    waiting_.push_back(std::move(granted));
    Grant();
  }
  void Release() {
    ++free_;
    Grant();
  }

 private:
  void Grant() {
    // A callback may release its permit; the loop then continues here, without recursion.
    if (std::exchange(granting_, true)) return;
    while (free_ > 0 && !waiting_.empty()) {
      const Granted granted = std::move(waiting_.front());
      waiting_.pop_front();
      --free_;
      if (!granted()) ++free_;
    }
    granting_ = false;
  }

  int free_;
  bool granting_ = false;
  std::deque<Granted> waiting_;
};

}  // namespace cox::simulate
