// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "base/context.h"
#include "object/scalar/time.h"

namespace cox::apiserver {

// The current time in whole seconds, the precision of metav1.Time.
inline Time NowOf(const Clock& clock) {
  const auto since = std::chrono::floor<std::chrono::seconds>(clock.Now().time_since_epoch());
  return Time::FromUnix(since.count());
}
inline Time NowOf(const Context& ctx) { return NowOf(ctx.clock()); }

}  // namespace cox::apiserver
