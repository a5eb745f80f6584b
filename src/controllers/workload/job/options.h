// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox::controllers {

struct JobOptions {
  // --concurrent-job-syncs
  int concurrent_syncs = 5;
};

}  // namespace cox::controllers
