// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace cox {

// A function with its own stack, which may wait without blocking its thread: when it waits in a
// Waiter (and so in CondVar, Context::Await and Context::Sleep), the thread continues with other
// work. After the function was woken, it continues on the same thread.
//
// Event loops run requests in fibers. Their code waits for etcd with the same functions as code on
// a thread, but occupies no thread and causes no thread switch.
//
// Guarantees: a fiber never changes its thread. Blocking system calls still block the thread.
// REQUIRES: no Mutex is held while a fiber waits, except the one that CondVar releases. Debug
//   builds check this.
// Threads: Resume on the fiber's thread; MakeReady is called by any thread.
// Ownership: the subclass keeps the fiber alive until it has finished.
class Fiber {
 public:
  explicit Fiber(std::function<void()> work);
  // REQUIRES: it has finished, or has never been resumed.
  virtual ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The fiber that the calling thread executes; null outside of fibers.
  static Fiber* Current();

  // Starts or continues the fiber; returns when it waits or has finished.
  // REQUIRES: the caller is not a fiber.
  void Resume();
  bool finished() const { return finished_; }

 private:
  friend class Waiter;
  struct Switch;

  // Arranges that Resume is called soon on the fiber's thread. Called by any thread, with locks
  // held, once for each wait; must not block.
  virtual void MakeReady() = 0;
  // Returns to the caller of Resume, and returns when Resume is called again.
  void Suspend();
  void Leave();
  // Called on the fiber's stack when the thread, which continues at `thread`, has switched to it.
  void Entered(void* thread);

  std::function<void()> work_;
  const std::unique_ptr<Switch> switch_;
  bool finished_ = false;
};

// Called by functions that may have to wait for other servers. Debug builds abort if the caller
// holds a Mutex, even if there is nothing to wait for this time.
void CheckMayWait();

// The stacks of fibers, which are reused.
namespace fiber_stacks {

// Address space of a stack: that of a thread, because JSON documents may be nested deeply. Only
// pages that were used take memory.
inline constexpr size_t kSize = size_t{8} << 20;
// Limit of unused stacks that are kept.
inline constexpr size_t kKept = 128;
// After this number of uses, a stack releases the memory that deep calls used.
inline constexpr int kUsesPerTrim = 64;

// For tests: the unused stacks that are kept.
size_t kept();

}  // namespace fiber_stacks

}  // namespace cox
