// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox::controllers {

struct GarbageCollectorOptions {
  // --concurrent-gc-syncs
  int concurrent_syncs = 20;
};

}  // namespace cox::controllers
