// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox::test {

// Folders that tests read from. They are functions, not macros, so that only one small source file
// depends on where the tree was checked out, and the compiler cache can serve every other file to
// every checkout.

// Root of this source tree.
const char* SourceDirectory();

// Reference data beside the tree (CMake option COX_SHARED). It may be absent; a test that needs it
// then skips.
const char* SharedDirectory();

}  // namespace cox::test
