// SPDX-License-Identifier: Apache-2.0
// Replaces the C library's function in programs whose tests ThreadSanitizer skips. If such a
// program starts a thread, it ends with an error, so that no test with threads is skipped.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

extern "C" int pthread_create(pthread_t* /*thread*/, const pthread_attr_t* /*attributes*/,
                              void* (* /*function*/)(void*), void* /*argument*/) noexcept {
  std::fputs(
      "A test started a thread, but its folder is marked ONE_THREAD and is not tested under "
      "ThreadSanitizer. Remove ONE_THREAD from the folder's CMakeLists.txt.\n",
      stderr);
  std::abort();
}
