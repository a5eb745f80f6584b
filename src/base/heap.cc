// SPDX-License-Identifier: Apache-2.0
#include "base/heap.h"

#include <malloc.h>

namespace cox {

void BoundHeap() {
  constexpr int kLarge = 1 << 20;
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, 2 * kLarge);
}

void ReturnFreeMemory() { malloc_trim(0); }

}  // namespace cox
