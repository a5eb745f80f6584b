// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/pod_info.h"

#include <utility>

namespace cox::scheduler {

PodInfoPtr MakePodInfo(std::shared_ptr<const core::v1::Pod> pod) {
  auto info = std::make_shared<PodInfo>();
  info->requests = RequestsOf(*pod);
  const Amounts with_defaults = RequestsWithDefaults(*pod);
  info->score_milli_cpu = with_defaults.milli_cpu;
  info->score_memory = with_defaults.memory;
  info->ports = core_rules::HostPortsOf(*pod);
  info->priority = pod->spec.priority.value_or(0);
  info->pod = std::move(pod);
  return info;
}

}  // namespace cox::scheduler
