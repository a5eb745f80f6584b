// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "apiserver/admission/plugins/pod_security/options.h"
#include "apiserver/registry/served/registry.h"
#include "base/context.h"

namespace cox::apiserver::pod_security {

// Limits of the check of existing Pods when a namespace becomes stricter.
struct ExistingPodsLimits {
  size_t pods = 3000;
  std::chrono::milliseconds time{1000};
};

// Warnings for a namespace that starts to enforce `standard`: lists its Pods that violate the
// standard, Pods with the same violations in one line. Reads the cache. If there are more Pods than
// the limits allow, one Pod of each controller is checked first, and a warning contains the number
// of checked Pods.
Warnings WarnAboutExistingPods(Context& ctx, const ResourceStore& pods, std::string_view ns,
                               const LevelVersion& standard, const Options& options,
                               const ExistingPodsLimits& limits = {});

}  // namespace cox::apiserver::pod_security
