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
// the heap until then. Takes milliseconds for a heap of 100 MB, in which allocations wait: call it
// only after much memory was freed that is not needed again soon.
void ReturnFreeMemory();

}  // namespace cox
