// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

struct HookTarget {
  std::string container_id;
  std::string pod_ip;
  const core::v1::Container& container;
};

// Runs a postStart or preStop hook: a command in the container, an HTTP request, or a sleep. Blocks
// until it has ended or `ctx` is cancelled.
//
// Errors: may contain the command's output, so they must not be put into events. The status code of
//   an HTTP response is ignored.
Status RunHook(Context& ctx, const core::v1::LifecycleHandler& hook, const HookTarget& target,
               runtime::Runtime& runtime);

}  // namespace cox::kubelet
