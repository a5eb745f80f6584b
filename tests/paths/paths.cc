// SPDX-License-Identifier: Apache-2.0
#include "tests/paths/paths.h"

namespace cox::test {

const char* SourceDirectory() { return COX_SOURCE_DIR; }

const char* SharedDirectory() { return COX_SHARED_DIR; }

}  // namespace cox::test
