// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox {

// The C library's heap, set up for programs with many threads that serve others:
// - Two arenas: one for each thread would cost megabytes, two share well on few cores.
// - Blocks of a megabyte and more are the kernel's: what a large document took goes back when it is
//   freed, and a growing array is moved by its pages, so that old and new are not held at once. By
//   default the heap takes this upon itself once it has seen large blocks come and go.
// REQUIRES: called before threads start.
void BoundHeap();

}  // namespace cox
