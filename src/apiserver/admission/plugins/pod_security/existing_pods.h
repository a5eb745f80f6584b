// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "apiserver/admission/plugins/pod_security/options.h"
#include "apiserver/registry/served/registry.h"
#include "base/context.h"

namespace cox::apiserver::pod_security {

// How much is looked at when a namespace becomes stricter: warnings are worth a moment, not more.
struct ExistingPodsLimits {
  size_t pods = 3000;
  std::chrono::milliseconds time{1000};
};

// For the Warning header of a namespace that begins to enforce `standard`: which of its Pods would
// not be let in any more, those with the same violations in one line. Reads the cache; if there are
// more Pods than the limits allow, one of each controller is looked at first, and it says how far
// it came.
Warnings WarnAboutExistingPods(Context& ctx, const ResourceStore& pods, std::string_view ns,
                               const LevelVersion& standard, const Options& options,
                               const ExistingPodsLimits& limits = {});

}  // namespace cox::apiserver::pod_security
