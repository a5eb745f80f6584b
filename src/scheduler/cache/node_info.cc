// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/node_info.h"

#include <algorithm>
#include <utility>

namespace cox::scheduler {

void NodeInfo::SetNode(std::shared_ptr<const core::v1::Node> object) {
  node = std::move(object);
  allocatable = node == nullptr ? Amounts() : Amounts::Of(node->status.allocatable);
  const Quantity* pods_allowed = node == nullptr ? nullptr : node->status.allocatable.Get("pods");
  allowed_pods = pods_allowed == nullptr ? 0 : pods_allowed->Value();
}

void NodeInfo::AddPod(PodInfoPtr pod) {
  requested.Add(pod->requests);
  score_milli_cpu += pod->score_milli_cpu;
  score_memory += pod->score_memory;
  ports.insert(ports.end(), pod->ports.begin(), pod->ports.end());
  pods.push_back(std::move(pod));
}

bool NodeInfo::RemovePod(const std::string& uid) {
  const auto at = std::find_if(pods.begin(), pods.end(),
                               [&](const PodInfoPtr& pod) { return pod->uid() == uid; });
  if (at == pods.end()) return false;
  const PodInfoPtr pod = std::move(*at);
  if (&*at != &pods.back()) *at = std::move(pods.back());
  pods.pop_back();
  requested.Sub(pod->requests);
  score_milli_cpu -= pod->score_milli_cpu;
  score_memory -= pod->score_memory;
  for (const HostPort& port : pod->ports) {
    const auto taken = std::find(ports.begin(), ports.end(), port);
    if (taken != ports.end()) ports.erase(taken);
  }
  return true;
}

}  // namespace cox::scheduler
