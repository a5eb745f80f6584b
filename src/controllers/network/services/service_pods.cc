// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/services/service_pods.h"

#include <algorithm>

#include "controllers/network/services/service_endpoint.h"
#include "controllers/shared/pods/pod_state.h"

namespace cox::controllers {
namespace {

using core::v1::Pod;
using core::v1::Service;

std::string PairKey(std::string_view ns, std::string_view key, std::string_view value) {
  std::string out;
  out.reserve(ns.size() + key.size() + value.size() + 2);
  return out.append(ns).append("|").append(key).append("=").append(value);
}

}  // namespace

bool Selects(const Map<std::string>& selector, const Map<std::string>& labels) {
  return !selector.empty() &&
         std::all_of(selector.begin(), selector.end(), [&labels](const auto& wanted) {
           const std::string* value = labels.Get(wanted.first);
           return value != nullptr && *value == wanted.second;
         });
}

std::vector<std::string> ServicePods::ByLabel::Of(const Pod& pod) {
  std::vector<std::string> keys;
  keys.reserve(pod.metadata.labels.size());
  for (const auto& [key, value] : pod.metadata.labels) {
    keys.push_back(PairKey(pod.metadata.namespace_, key, value));
  }
  return keys;
}

std::string ServicePods::BySelector::Of(const Service& service) {
  if (service.spec.selector.empty()) return "";
  const auto& pair = *service.spec.selector.begin();
  return PairKey(service.metadata.namespace_, pair.first, pair.second);
}

ServicePods::ServicePods(Cache& cache)
    : pods_(cache.IndexOf<Pod, ByLabel>()),
      services_(cache.IndexOf<Service, BySelector>()),
      by_node_(cache.IndexOf<Pod, pods::ByNode>()) {}

std::vector<std::shared_ptr<const Pod>> ServicePods::PodsOf(const Service& service) const {
  // Each pair alone finds all selected Pods; the rarest pair finds the fewest others.
  std::vector<std::shared_ptr<const Pod>> pods;
  bool first = true;
  for (const auto& [key, value] : service.spec.selector) {
    auto found = pods_.Find(PairKey(service.metadata.namespace_, key, value));
    if (first || found.size() < pods.size()) pods = std::move(found);
    first = false;
    if (pods.empty()) return pods;
  }
  std::erase_if(pods, [&service](const auto& pod) {
    return !Selects(service.spec.selector, pod->metadata.labels);
  });
  std::sort(pods.begin(), pods.end(),
            [](const auto& a, const auto& b) { return a->metadata.name < b->metadata.name; });
  return pods;
}

std::vector<ObjectKey> ServicePods::ServicesOf(const Pod& pod) const {
  std::vector<ObjectKey> keys;
  for (const std::string& pair : ByLabel::Of(pod)) {
    for (const auto& service : services_.Find(pair)) {
      if (Selects(service->spec.selector, pod.metadata.labels)) keys.push_back(KeyOf(*service));
    }
  }
  return keys;
}

std::vector<ObjectKey> ServicePods::ServicesOnNode(std::string_view node) const {
  std::vector<ObjectKey> keys;
  for (const auto& pod : by_node_.Find(node)) {
    for (ObjectKey& key : ServicesOf(*pod)) keys.push_back(std::move(key));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

Predicate PublishedPartChanged() {
  return [](const Delta& delta) {
    if (delta.before == nullptr || delta.after == nullptr) return true;
    const Pod* before = delta.before->As<Pod>();
    const Pod* after = delta.after->As<Pod>();
    if (before == nullptr || after == nullptr) return true;
    return before->metadata.labels != after->metadata.labels ||
           before->status.podIP != after->status.podIP ||
           before->status.podIPs != after->status.podIPs ||
           pods::IsReady(*before) != pods::IsReady(*after) ||
           before->status.phase != after->status.phase ||
           before->spec.nodeName != after->spec.nodeName ||
           before->metadata.uid != after->metadata.uid ||
           before->metadata.deletionTimestamp.has_value() !=
               after->metadata.deletionTimestamp.has_value();
  };
}

}  // namespace cox::controllers
