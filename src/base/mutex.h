// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <list>
#include <mutex>
#include <shared_mutex>
#include <stop_token>

#include "base/thread_annotations.h"
#include "base/waiter.h"

namespace cox {

class Clock;

// std::mutex with annotations: clang refuses code that touches guarded data without it.
class COX_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  // std::mutex ends without a word; ThreadSanitizer would take the next lock at this address for
  // this one.
  ~Mutex() { pthread_mutex_destroy(mu_.native_handle()); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() COX_ACQUIRE() { mu_.lock(); }
  void Unlock() COX_RELEASE() { mu_.unlock(); }
  bool TryLock() COX_TRY_ACQUIRE(true) { return mu_.try_lock(); }
  // Tells the analysis that the caller holds it, where it cannot see that. Checks nothing at run
  // time.
  void AssertHeld() const COX_ASSERT_CAPABILITY(this) {}

 private:
  std::mutex mu_;
};

// Holds a Mutex for a block. Unlock() and Lock() let go of it for a while.
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

// Many readers or one writer. Worth it only where readers hold it long or are many.
class COX_CAPABILITY("shared mutex") SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void Lock() COX_ACQUIRE() { mu_.lock(); }
  void Unlock() COX_RELEASE() { mu_.unlock(); }
  void LockShared() COX_ACQUIRE_SHARED() { mu_.lock_shared(); }
  void UnlockShared() COX_RELEASE_SHARED() { mu_.unlock_shared(); }

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

// A condition that threads wait for under a Mutex, with deadlines by an injected Clock and a stop
// token.
//
//   MutexLock lock(mu_);
//   WakeCause cause = changed_.WaitUntil(mu_, clock_, next_due, ctx.token());
//
// Guarantees: a notification after a waiter released the mutex is not lost, nor is a stop request
// or a
//   deadline at any moment. NotifyOne wakes the thread that has waited longest. A wake-up as
//   kNotified may come without cause for the caller (another took the item first): look again.
// Threads: all methods may be called concurrently; waiters of one CondVar use one Mutex.
// Ownership: must outlive its waiters.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Releases `mu`, blocks until notified, holds `mu` again.
  void Wait(Mutex& mu) COX_REQUIRES(mu);
  // The same, with further ends: `deadline` on `clock` (Waiter::kNever for none) and `stop`.
  WakeCause WaitUntil(Mutex& mu, Clock& clock, Waiter::Deadline deadline, std::stop_token stop = {})
      COX_REQUIRES(mu);

  // Until `ready()`, which is called with `mu` held. Callers are checked to hold `mu`; the bodies
  // are not analysed, because clang cannot see that the lock `ready` names is this `mu`.
  template <class Predicate>
  void Wait(Mutex& mu, Predicate ready) COX_REQUIRES(mu) COX_NO_THREAD_SAFETY_ANALYSIS {
    while (!ready()) Wait(mu);
  }
  // False if the deadline or the stop request came first and `ready()` does not hold even so.
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
  void Leave(Waiter& waiter);

  // Waiters in order of arrival. The count lets a notification that nobody waits for cost one load.
  Mutex list_mu_;
  std::list<Waiter*> waiters_ COX_GUARDED_BY(list_mu_);
  std::atomic<size_t> count_ = 0;
};

}  // namespace cox
