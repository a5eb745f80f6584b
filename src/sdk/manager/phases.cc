// SPDX-License-Identifier: Apache-2.0
#include "sdk/manager/manager_impl.h"

namespace cox::sdk {

// The startup order of a manager; the shutdown is in reverse order.
//
// Health probes and metrics start first and stop last, so that startup and shutdown can be
// observed. Caches are synced before their readers start, and stay in sync while another process
// leads, so that a new leader can work at once. Leading starts last and stops first: the Lease is
// released only after all reconciles have ended, and everything that a reconcile uses outlives it.
std::span<const Phase> Phases() {
  static constexpr Phase kPhases[] = {
      {"health", &ManagerImpl::StartHealth, &ManagerImpl::StopHealth},
      {"metrics", &ManagerImpl::StartMetrics, &ManagerImpl::StopMetrics},
      {"caches", &ManagerImpl::WarmCaches, &ManagerImpl::StopCaches},
      {"runnables", &ManagerImpl::StartRunnables, &ManagerImpl::StopRunnables},
      {"leading", &ManagerImpl::Lead, &ManagerImpl::StopLeading},
  };
  return kPhases;
}

Status ManagerImpl::RunPhases(Context& run) {
  const std::span<const Phase> phases = Phases();
  Status status;
  size_t begun = 0;
  for (; begun < phases.size() && status.ok() && !run.Done(); ++begun) {
    COX_V(run.log(), 2, "Starting", {"phase", phases[begun].name});
    status = (this->*phases[begun].start)(run);
  }
  if (!status.ok() && !run.Done()) Fail(status);
  while (begun > 0) {
    const Phase& phase = phases[--begun];
    COX_V(run.log(), 2, "Stopping", {"phase", phase.name});
    const Status ended = (this->*phase.stop)(Limit());
    if (!ended.ok()) Fail(ended.WithContext("stopping " + std::string(phase.name)));
  }
  MutexLock lock(mu_);
  return failure_;
}

}  // namespace cox::sdk
