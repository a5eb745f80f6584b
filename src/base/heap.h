// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox {

// Configures glibc's malloc for servers with many threads:
// - Two arenas: one for each thread would cost megabytes; two are sufficient on few cores.
// - Blocks of a megabyte and more use mmap: the memory of a large document is returned when it is
//   freed, and a growing array is moved with mremap, so that old and new copies do not coexist. By
//   default malloc raises this threshold dynamically after large blocks were freed.
// REQUIRES: called before threads start.
void BoundHeap();

// Returns free pages of the heap to the kernel. malloc keeps pages that were freed in the middle of
// the heap until then. This takes milliseconds for a heap of 100 MB, and allocations wait
// meanwhile. Call it only after many megabytes were freed that are not needed again soon.
void ReturnFreeMemory();

}  // namespace cox
