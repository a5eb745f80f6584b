// SPDX-License-Identifier: Apache-2.0
#include "kubelet/environment/fields.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "kubelet/pod/containers.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::Pod;

namespace {

// Sorted `key="value"` lines, the format of all labels or annotations.
std::string Lines(const Map<std::string>& map) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : map) lines.push_back(key + "=" + Quote(value));
  return Join(lines, "\n");
}

// The key in "metadata.labels['key']"; none if the path is not of that form.
std::optional<std::string> Subscript(const std::string& path, std::string_view prefix) {
  const std::string begin = std::string(prefix) + "['";
  if (!path.starts_with(begin) || !path.ends_with("']") || path.size() < begin.size() + 2) {
    return std::nullopt;
  }
  return path.substr(begin.size(), path.size() - begin.size() - 2);
}

std::string Value(const Map<std::string>& map, const std::string& key) {
  const std::string* found = map.Get(key);
  return found == nullptr ? "" : *found;
}

std::vector<std::string> PodIps(const Pod& pod, const PodFacts& facts) {
  if (!facts.pod_ips.empty()) return facts.pod_ips;
  std::vector<std::string> ips;
  for (const core::v1::PodIP& ip : pod.status.podIPs) ips.push_back(ip.ip);
  if (ips.empty() && !pod.status.podIP.empty()) ips.push_back(pod.status.podIP);
  return ips;
}

std::vector<std::string> HostIps(const Pod& pod, const PodFacts& facts) {
  if (!facts.host_ips.empty()) return facts.host_ips;
  std::vector<std::string> ips;
  for (const core::v1::HostIP& ip : pod.status.hostIPs) ips.push_back(ip.ip);
  if (ips.empty() && !pod.status.hostIP.empty()) ips.push_back(pod.status.hostIP);
  return ips;
}

// In units of `divisor`, rounded up.
std::string Divided(int64_t amount, int64_t divisor) {
  if (divisor <= 0) divisor = 1;
  return std::to_string(amount / divisor + (amount % divisor > 0 ? 1 : 0));
}

int64_t Default(std::string_view resource, const PodFacts& facts) {
  if (resource == "cpu") return facts.allocatable_milli_cpu;
  if (resource == "memory") return facts.allocatable_memory;
  if (resource == "ephemeral-storage") return facts.allocatable_ephemeral_storage;
  return 0;
}

}  // namespace

Result<std::string> FieldValue(const Pod& pod, const std::string& path, const PodFacts& facts) {
  const auto first = [](const std::vector<std::string>& ips) {
    return ips.empty() ? std::string() : ips.front();
  };
  if (const auto key = Subscript(path, "metadata.labels")) return Value(pod.metadata.labels, *key);
  if (const auto key = Subscript(path, "metadata.annotations")) {
    return Value(pod.metadata.annotations, *key);
  }
  if (path == "metadata.labels") return Lines(pod.metadata.labels);
  if (path == "metadata.annotations") return Lines(pod.metadata.annotations);
  if (path == "metadata.name") return pod.metadata.name;
  if (path == "metadata.namespace") return pod.metadata.namespace_;
  if (path == "metadata.uid") return pod.metadata.uid;
  if (path == "spec.nodeName") return pod.spec.nodeName;
  if (path == "spec.serviceAccountName") return pod.spec.serviceAccountName;
  if (path == "status.hostIP") return first(HostIps(pod, facts));
  if (path == "status.hostIPs") return Join(HostIps(pod, facts), ",");
  if (path == "status.podIP") return first(PodIps(pod, facts));
  if (path == "status.podIPs") return Join(PodIps(pod, facts), ",");
  return Status::BadRequest("unsupported fieldPath: " + path);
}

Result<std::string> ResourceFieldValue(const Pod& pod,
                                       const core::v1::ResourceFieldSelector& selector,
                                       const std::string& container, const PodFacts& facts) {
  const std::string& name = selector.containerName.empty() ? container : selector.containerName;
  const Container* found = FindContainer(pod, name);
  if (found == nullptr) return Status::BadRequest("container " + name + " not found");
  const CutResult cut = Cut(selector.resource, '.');
  const bool limits = cut.before == "limits";
  const std::string_view resource = cut.after;
  const bool known = resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
                     resource.starts_with("hugepages-");
  if (!cut.found || (!limits && cut.before != "requests") || !known) {
    return Status::BadRequest("unsupported container resource : " + selector.resource);
  }
  const auto amount = [resource](const Map<Quantity>& list) -> int64_t {
    const Quantity* quantity = list.Get(resource);
    if (quantity == nullptr) return 0;
    return resource == "cpu" ? quantity->MilliValue() : quantity->Value();
  };
  int64_t value = amount(limits ? found->resources.limits : found->resources.requests);
  // The default for limits is the node's allocatable amount.
  if (limits && value == 0) value = Default(resource, facts);
  const bool none = selector.divisor.IsZero();
  if (resource == "cpu") return Divided(value, none ? 1000 : selector.divisor.MilliValue());
  return Divided(value, none ? 1 : selector.divisor.Value());
}

}  // namespace cox::kubelet
