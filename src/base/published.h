// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

namespace cox {

// A shared_ptr that some replace while others read it.
//
// What std::atomic<std::shared_ptr> is for, which g++ 12 has with a missing release (its load races
// with the next store, as ThreadSanitizer finds). As there, a bit is held while the pointer is
// copied: some nanoseconds.
//
// Threads: all methods may be called concurrently.
template <class T>
class Published {
 public:
  Published() = default;
  explicit Published(std::shared_ptr<T> value) : value_(std::move(value)) {}

  std::shared_ptr<T> Load() const {
    Acquire();
    std::shared_ptr<T> copy = value_;
    busy_.clear(std::memory_order_release);
    return copy;
  }
  // Returns what was there, so that the caller decides where it is freed.
  std::shared_ptr<T> Exchange(std::shared_ptr<T> value) {
    Acquire();
    value_.swap(value);
    busy_.clear(std::memory_order_release);
    return value;
  }
  // What was there is freed here, unless others still read it.
  void Store(std::shared_ptr<T> value) { (void)Exchange(std::move(value)); }

 private:
  void Acquire() const {
    while (busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }

  mutable std::atomic_flag busy_;
  std::shared_ptr<T> value_;
};

}  // namespace cox
