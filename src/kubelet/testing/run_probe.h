// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "base/mutex.h"
#include "kubelet/probes/probe.h"

namespace cox::kubelet::testing {

// Executes one probe and waits for its reply.
inline ProbeReply RunProbe(const Context& ctx, const ProbeTarget& target, ProbeExec exec = {}) {
  Mutex mu;
  CondVar changed;
  std::optional<ProbeReply> result;
  Prober prober(ctx, std::move(exec));
  prober.Run(ctx, target, [&](ProbeReply reply) {
    MutexLock lock(mu);
    result = std::move(reply);
    changed.NotifyAll();
  });
  MutexLock lock(mu);
  changed.Wait(mu, [&] { return result.has_value(); });
  return *std::move(result);
}

}  // namespace cox::kubelet::testing
