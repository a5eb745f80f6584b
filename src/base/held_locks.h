// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts the Mutexes that the calling thread holds, in debug builds. A fiber that waits while it
// holds one could block its thread forever: the next fiber that needs the Mutex blocks the thread
// that the first one needs to continue.
namespace cox {

#ifdef NDEBUG
inline void CountLock() {}
inline void CountUnlock() {}
inline int HeldLocks() { return 0; }
#else
namespace internal {
inline thread_local int held_locks = 0;
}
inline void CountLock() { ++internal::held_locks; }
inline void CountUnlock() { --internal::held_locks; }
inline int HeldLocks() { return internal::held_locks; }
#endif

}  // namespace cox
