// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/node_info.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cox::scheduler {

void NodeInfo::SetNode(std::shared_ptr<const core::v1::Node> object) {
  node = std::move(object);
  allocatable = node == nullptr ? Amounts() : Amounts::Of(node->status.allocatable);
  const Quantity* pods_allowed = node == nullptr ? nullptr : node->status.allocatable.Get("pods");
  allowed_pods = pods_allowed == nullptr ? 0 : pods_allowed->Value();
}

void NodeInfo::AddPod(PodUsagePtr pod) {
  requested.Add(pod->requests);
  score_milli_cpu += pod->score_milli_cpu;
  score_memory += pod->score_memory;
  ports.insert(ports.end(), pod->ports.begin(), pod->ports.end());
  pods.push_back(std::move(pod));
}

void NodeInfo::RemovePod(const PodUsagePtr& pod) {
  const auto at = std::find(pods.begin(), pods.end(), pod);
  COX_CHECK(at != pods.end()) << "the Pod is on " << name;
  requested.Sub(pod->requests);
  score_milli_cpu -= pod->score_milli_cpu;
  score_memory -= pod->score_memory;
  for (const HostPort& port : pod->ports) {
    const auto taken = std::find(ports.begin(), ports.end(), port);
    if (taken != ports.end()) ports.erase(taken);
  }
  std::swap(*at, pods.back());
  pods.pop_back();
}

}  // namespace cox::scheduler
