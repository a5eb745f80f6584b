// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <list>
#include <mutex>
#include <shared_mutex>
#include <stop_token>

#include "base/held_locks.h"
#include "base/thread_annotations.h"
#include "base/waiter.h"

namespace cox {

class Clock;

// std::mutex with thread safety annotations: clang rejects unlocked access to guarded data.
class COX_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  // std::mutex has a trivial destructor; without this call ThreadSanitizer would confuse the next
  // mutex at this address with this one.
  ~Mutex() { pthread_mutex_destroy(mu_.native_handle()); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() COX_ACQUIRE() {
    mu_.lock();
    CountLock();
  }
  void Unlock() COX_RELEASE() {
    CountUnlock();
    mu_.unlock();
  }
  bool TryLock() COX_TRY_ACQUIRE(true) {
    if (!mu_.try_lock()) return false;
    CountLock();
    return true;
  }
  // Informs the analysis that the caller holds it. Checks nothing at run time.
  void AssertHeld() const COX_ASSERT_CAPABILITY(this) {}

 private:
  std::mutex mu_;
};

// Holds a Mutex for a block. Unlock() and Lock() release it temporarily.
class COX_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mu) COX_ACQUIRE(mu) : mu_(mu) { mu_.Lock(); }
  ~MutexLock() COX_RELEASE() {
    if (held_) mu_.Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() COX_RELEASE() {
    mu_.Unlock();
    held_ = false;
  }
  void Lock() COX_ACQUIRE() {
    mu_.Lock();
    held_ = true;
  }

 private:
  Mutex& mu_;
  bool held_ = true;
};

// Many readers or one writer. Useful only if readers hold it long or are many.
class COX_CAPABILITY("shared mutex") SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void Lock() COX_ACQUIRE() {
    mu_.lock();
    CountLock();
  }
  void Unlock() COX_RELEASE() {
    CountUnlock();
    mu_.unlock();
  }
  void LockShared() COX_ACQUIRE_SHARED() {
    mu_.lock_shared();
    CountLock();
  }
  void UnlockShared() COX_RELEASE_SHARED() {
    CountUnlock();
    mu_.unlock_shared();
  }

 private:
  std::shared_mutex mu_;
};

class COX_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mu) COX_ACQUIRE_SHARED(mu) : mu_(mu) { mu_.LockShared(); }
  ~ReaderLock() COX_RELEASE_GENERIC() { mu_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mu_;
};

class COX_SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex& mu) COX_ACQUIRE(mu) : mu_(mu) { mu_.Lock(); }
  ~WriterLock() COX_RELEASE() { mu_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mu_;
};

// A condition variable with deadlines by an injected Clock and a stop token.
//
//   MutexLock lock(mu_);
//   WakeCause cause = changed_.WaitUntil(mu_, clock_, next_due, ctx.token());
//
// Guarantees: a notification after a waiter released the mutex is not lost, nor is a stop request
//   or a deadline at any time. NotifyOne wakes the thread that has waited longest. kNotified may be
//   spurious for the caller (another thread took the item first): check the condition again.
// Threads: all methods may be called concurrently; waiters of one CondVar use one Mutex.
// Ownership: must outlive its waiters.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Releases `mu`, blocks until notified, acquires `mu` again.
  void Wait(Mutex& mu) COX_REQUIRES(mu);
  // The same, with a `deadline` on `clock` (Waiter::kNever for none) and a `stop` token.
  WakeCause WaitUntil(Mutex& mu, Clock& clock, Waiter::Deadline deadline, std::stop_token stop = {})
      COX_REQUIRES(mu);

  // Waits until `ready()`, which is called with `mu` held. Callers are checked to hold `mu`; the
  // bodies are not analyzed, because clang cannot see that the lock in `ready` is this `mu`.
  template <class Predicate>
  void Wait(Mutex& mu, Predicate ready) COX_REQUIRES(mu) COX_NO_THREAD_SAFETY_ANALYSIS {
    while (!ready()) Wait(mu);
  }
  // False if the deadline or the stop request came first and `ready()` is still false.
  template <class Predicate>
  bool WaitUntil(Mutex& mu, Clock& clock, Waiter::Deadline deadline, std::stop_token stop,
                 Predicate ready) COX_REQUIRES(mu) COX_NO_THREAD_SAFETY_ANALYSIS {
    while (!ready()) {
      if (WaitUntil(mu, clock, deadline, stop) != WakeCause::kNotified) return ready();
    }
    return true;
  }

  void NotifyOne();
  void NotifyAll();

 private:
  // `park` blocks the waiter; it runs without `mu`.
  template <class Park>
  WakeCause WaitWith(Mutex& mu, Park park) COX_REQUIRES(mu);
  void RemoveWaiter(Waiter& waiter);

  // Waiters in order of arrival. The count makes a notification without waiters cost only one load.
  Mutex list_mu_;
  std::list<Waiter*> waiters_ COX_GUARDED_BY(list_mu_);
  std::atomic<size_t> count_ = 0;
};

}  // namespace cox
