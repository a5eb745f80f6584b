// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox {

// Gives memory back that the process has and does not need now: free pages of the heap, and pages
// of code and constants, most of which only the start has needed. The kernel maps code in pieces of
// 64 KB, of programs and libraries alike, and never takes it back while there is room: megabytes
// for a program that then sits and waits. What is needed again comes back by itself, from the page
// cache, a fraction of a millisecond for all of it.
//
// For programs that mostly wait, once they have started; not for those under load, nor again and
// again: that would only hide what they use.
// Threads: may be called at any time.
void TrimMemory();

}  // namespace cox
