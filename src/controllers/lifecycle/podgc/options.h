// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox::controllers {

struct PodGcOptions {
  // --terminated-pod-gc-threshold. 0 disables the deletion of terminated Pods by number.
  int terminated_pod_threshold = 12'500;
};

}  // namespace cox::controllers
