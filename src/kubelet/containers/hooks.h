// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "kubelet/probes/probe.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

struct HookTarget {
  std::string container_id;
  std::string pod_ip;
  const core::v1::Container& container;
};

struct HookParts {
  runtime::Runtime& runtime;
  Prober& prober;
};

// Runs a postStart or preStop hook: a command in the container, an HTTP request, or a sleep. Calls
// `done` once, on any thread, when it has ended or `ctx` has stopped; it must not block. Blocks at
// most while the runtime is not reachable.
//
// Errors: may contain the command's output, so they must not be put into events. The status code of
//   an HTTP response is ignored.
void RunHook(const Context& ctx, const core::v1::LifecycleHandler& hook, const HookTarget& target,
             const HookParts& parts, std::function<void(const Status&)> done);

}  // namespace cox::kubelet
