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

// Runs a postStart or preStop hook: a command in the container, a request to it, or a sleep. Blocks
// until it has ended or `ctx` stops.
//
// Errors: may have what the command wrote: for no event. What a server answers to a request does
//   not matter, only that it does.
Status RunHook(Context& ctx, const core::v1::LifecycleHandler& hook, const HookTarget& target,
               runtime::Runtime& runtime);

}  // namespace cox::kubelet
