// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox {

// Returns memory that the process does not need now: free heap pages, and pages of code and
// constants, most of which only the startup needs. The kernel maps code of programs and libraries
// in pieces of 64 KB, and does not reclaim it without memory pressure: megabytes for an idle
// program. Pages that are needed again are reloaded from the page cache, within a fraction of a
// millisecond in total.
//
// For mostly idle programs, once after startup; not for programs under load, and not periodically,
// which would only hide their memory use.
// Threads: may be called at any time.
void TrimMemory();

}  // namespace cox
