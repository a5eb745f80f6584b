// SPDX-License-Identifier: Apache-2.0
#include "kubelet/admission/admission.h"

#include <algorithm>

#include "kubelet/pod/containers.h"
#include "kubelet/resources/requests.h"
#include "object/core/host_ports.h"
#include "object/core/node_selector.h"
#include "object/core/tolerations.h"

namespace cox::kubelet {

using core::v1::Node;
using core::v1::Pod;
using PodPtr = std::shared_ptr<const Pod>;

namespace {

// Checks NoExecute taints only: the scheduler handles the others.
bool ToleratesNode(const Pod& pod, const Node& node) {
  return std::all_of(node.spec.taints.begin(), node.spec.taints.end(), [&](const auto& taint) {
    return taint.effect != "NoExecute" ||
           core_rules::FindToleration(pod.spec.tolerations, taint) != nullptr;
  });
}

Rejection OutOf(const std::string& resource, int64_t requested, int64_t used, int64_t capacity) {
  return {"OutOf" + resource, "Node didn't have enough resource: " + resource + ", requested: " +
                                  std::to_string(requested) + ", used: " + std::to_string(used) +
                                  ", capacity: " + std::to_string(capacity)};
}

std::optional<Rejection> CheckResources(const Pod& pod, const Node& node,
                                        const std::vector<PodPtr>& others) {
  // A node without allocatable resources admits all Pods.
  for (const auto& [resource, quantity] : node.status.allocatable) {
    if (resource == "pods") continue;
    const int64_t requested = PodRequest(pod, resource).value;
    if (requested == 0) continue;
    int64_t used = 0;
    for (const PodPtr& other : others) used += PodRequest(*other, resource).value;
    const int64_t capacity = resource == "cpu" ? quantity.MilliValue() : quantity.Value();
    if (used + requested > capacity) return OutOf(resource, requested, used, capacity);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Rejection> Admit(const Pod& pod, const Node* node, int max_pods,
                               const std::vector<PodPtr>& others) {
  const auto count = static_cast<int64_t>(others.size());
  if (count + 1 > max_pods) return OutOf("pods", 1, count, max_pods);
  if (node == nullptr) return std::nullopt;
  if (auto rejection = CheckResources(pod, *node, others)) return rejection;
  if (!core_rules::MatchesRequired(pod, *node)) {
    return Rejection{"NodeAffinity",
                     "Predicate NodeAffinity failed: node(s) didn't match Pod's "
                     "node affinity/selector"};
  }
  if (!ToleratesNode(pod, *node)) {
    return Rejection{"TaintToleration",
                     "Predicate TaintToleration failed: node(s) had taints "
                     "that the pod didn't tolerate"};
  }
  const std::vector<core_rules::HostPort> ports = core_rules::HostPortsOf(pod);
  for (const PodPtr& other : others) {
    if (ports.empty() || !core_rules::AnyConflict(ports, core_rules::HostPortsOf(*other))) continue;
    return Rejection{"NodePorts",
                     "Predicate NodePorts failed: node(s) didn't have free ports for "
                     "the requested pod ports"};
  }
  return std::nullopt;
}

}  // namespace cox::kubelet
