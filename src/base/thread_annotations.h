// SPDX-License-Identifier: Apache-2.0
#pragma once

// Annotations for clang's -Wthread-safety; no effect on other compilers.
//
//   class Queue {
//     void Add(Item item) COX_EXCLUDES(mu_);           // takes the lock itself
//     void AddLocked(Item item) COX_REQUIRES(mu_);     // the caller holds it
//     Mutex mu_;
//     std::deque<Item> items_ COX_GUARDED_BY(mu_);
//   };
//
// A lambda is analyzed separately from the enclosing function, so a predicate needs its own
// annotation:
//   ready_.Wait(mu_, [this]() COX_REQUIRES(mu_) { return !items_.empty(); });
#if defined(__clang__)
#define COX_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define COX_THREAD_ATTRIBUTE(x)
#endif

// On data.
#define COX_GUARDED_BY(mu) COX_THREAD_ATTRIBUTE(guarded_by(mu))
#define COX_PT_GUARDED_BY(mu) COX_THREAD_ATTRIBUTE(pt_guarded_by(mu))  // the pointee
#define COX_ACQUIRED_BEFORE(...) COX_THREAD_ATTRIBUTE(acquired_before(__VA_ARGS__))
#define COX_ACQUIRED_AFTER(...) COX_THREAD_ATTRIBUTE(acquired_after(__VA_ARGS__))

// On functions: locks that the caller must hold, or must not hold.
#define COX_REQUIRES(...) COX_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define COX_REQUIRES_SHARED(...) COX_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define COX_EXCLUDES(...) COX_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

// On functions that lock or unlock.
#define COX_ACQUIRE(...) COX_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define COX_ACQUIRE_SHARED(...) COX_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define COX_RELEASE(...) COX_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define COX_RELEASE_SHARED(...) COX_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define COX_RELEASE_GENERIC(...) COX_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define COX_TRY_ACQUIRE(...) COX_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define COX_TRY_ACQUIRE_SHARED(...) COX_THREAD_ATTRIBUTE(try_acquire_shared_capability(__VA_ARGS__))
#define COX_ASSERT_CAPABILITY(x) COX_THREAD_ATTRIBUTE(assert_capability(x))
#define COX_RETURN_CAPABILITY(x) COX_THREAD_ATTRIBUTE(lock_returned(x))

// On lock types.
#define COX_CAPABILITY(name) COX_THREAD_ATTRIBUTE(capability(name))
#define COX_SCOPED_CAPABILITY COX_THREAD_ATTRIBUTE(scoped_lockable)

// Disables the analysis of this function; state the reason next to it.
#define COX_NO_THREAD_SAFETY_ANALYSIS COX_THREAD_ATTRIBUTE(no_thread_safety_analysis)
