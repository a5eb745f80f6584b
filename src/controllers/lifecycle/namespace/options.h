// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox::controllers {

struct NamespaceOptions {
  // --concurrent-namespace-syncs
  int concurrent_syncs = 10;
};

}  // namespace cox::controllers
