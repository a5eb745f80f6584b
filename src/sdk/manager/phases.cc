// SPDX-License-Identifier: Apache-2.0
#include "sdk/manager/manager_impl.h"

namespace cox::sdk {

// Read top to bottom: this is how a manager starts. It ends bottom to top.
//
// Probes and metrics are answered first and longest: whoever looks after the program sees it start
// and end. Caches are warm before anything that reads them runs, and stay so while another process
// leads: whoever follows it begins at once. Leading comes last and ends first, so that the Lease is
// given back only when no reconcile runs any more, and all that a reconcile uses outlives it.
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
