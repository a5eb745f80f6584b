// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cox::net {

// An allocator for OpenSSL's large, short-lived buffers (a received record, a sent record, a
// handshake message: 17 to 22 KB each).
//
// With malloc, a thousand concurrent handshakes leave a thousand holes of that size between small
// long-lived objects, which doubles the memory of an idle connection. This allocator uses a
// separate address range and returns unused buffers to the system, except for a few.
//
// Install makes OpenSSL use it for the whole process. It must be called before OpenSSL's first
// allocation; later it has no effect and returns false. Everything in this folder calls it first; a
// program that also uses OpenSSL elsewhere calls PrepareTls (tls.h) at its start.
class RecordBuffers {
 public:
  static bool Install();

  // Public for tests. A `size` between kMin and kMax is allocated from the range while there is
  // room; null: use malloc.
  static constexpr size_t kMin = 8 * 1024;
  static constexpr size_t kMax = 24 * 1024;
  static void* Allocate(size_t size);
  // False: `memory` is not from this allocator.
  static bool Release(void* memory);
  static bool Owns(const void* memory);
};

}  // namespace cox::net
