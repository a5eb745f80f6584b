// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cox::net {

// Memory for OpenSSL's large, short-lived buffers (a record in, a record out, a handshake message:
// 17 to 22 KB each).
//
// From malloc, a thousand handshakes at once leave a thousand holes of that size between the small
// objects that stay, and each idle connection costs twice what it needs. Here such buffers have a
// range of addresses of their own, and what is not in use goes back to the system, except for a
// few.
//
// Install makes OpenSSL use it, for the whole process. It has to come before OpenSSL's first
// allocation; later it does nothing and returns false. Everything in this folder calls it first; a
// program that uses OpenSSL elsewhere too calls PrepareTls (tls.h) at its start.
class RecordBuffers {
 public:
  static bool Install();

  // The parts, for tests. `size` between kMin and kMax comes from the range while there is room;
  // null: use malloc.
  static constexpr size_t kMin = 8 * 1024;
  static constexpr size_t kMax = 24 * 1024;
  static void* Allocate(size_t size);
  // False: not from here.
  static bool Release(void* memory);
  static bool Owns(const void* memory);
};

}  // namespace cox::net
