// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

namespace cox {

// A shared_ptr that can be replaced while others read it.
//
// A replacement for std::atomic<std::shared_ptr>, which lacks a release in g++ 12 (its load races
// with the next store, as ThreadSanitizer reports). Like there, a bit is held while the pointer is
// copied: a few nanoseconds.
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
  // Returns the old value, so that the caller decides where it is freed.
  std::shared_ptr<T> Exchange(std::shared_ptr<T> value) {
    Acquire();
    value_.swap(value);
    busy_.clear(std::memory_order_release);
    return value;
  }
  // Frees the old value, unless others still use it.
  void Store(std::shared_ptr<T> value) { (void)Exchange(std::move(value)); }

 private:
  void Acquire() const {
    while (busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }

  mutable std::atomic_flag busy_;
  std::shared_ptr<T> value_;
};

}  // namespace cox
