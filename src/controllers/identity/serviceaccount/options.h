// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox::controllers {

struct ServiceAccountOptions {
  // --concurrent-serviceaccount-token-syncs
  int concurrent_syncs = 5;
};

}  // namespace cox::controllers
