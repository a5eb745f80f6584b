// SPDX-License-Identifier: Apache-2.0
#include "kubelet/node/node_status.h"

#include <algorithm>

#include "base/strings.h"
#include "coxswain/conditions.h"
#include "object/codec/json/json.h"
#include "object/patch/strategic.h"
#include "object/type/equal.h"

namespace cox::kubelet {
namespace {

using core::v1::Node;
using core::v1::NodeCondition;
using core::v1::NodeStatus;

constexpr size_t kMaxNamesPerImage = 5;

Quantity Bytes(int64_t bytes) { return Quantity(bytes, Quantity::Format::kBinarySI); }

// "hugepages-2Mi"
std::string HugePageName(const HugePages& pages) {
  return "hugepages-" + Bytes(pages.size_bytes).ToString();
}

Map<Quantity> Capacity(const NodeFacts& facts, const NodeOptions& options) {
  Map<Quantity> capacity;
  capacity["cpu"] = Quantity(facts.machine.cpus);
  capacity["memory"] = Bytes(facts.machine.memory_bytes);
  capacity["pods"] = Quantity(options.max_pods);
  capacity["ephemeral-storage"] = Bytes(facts.storage_bytes);
  for (const HugePages& pages : facts.machine.huge_pages) {
    capacity[HugePageName(pages)] = Bytes(pages.size_bytes * pages.count);
  }
  return capacity;
}

void Take(Map<Quantity>* from, std::string_view name, const Quantity& amount) {
  Quantity* left = from->Get(name);
  if (left == nullptr) return;
  left->Sub(amount);
  if (left->Sign() < 0) *left = Quantity(0, left->format());
}

// Capacity minus reserved resources, hard eviction thresholds and huge pages.
Map<Quantity> Allocatable(const Map<Quantity>& capacity, const NodeFacts& facts,
                          const NodeOptions& options) {
  Map<Quantity> left = capacity;
  for (const Map<Quantity>* reserved : {&options.kube_reserved, &options.system_reserved}) {
    for (const auto& [name, amount] : *reserved) Take(&left, name, amount);
  }
  for (const Threshold& threshold : options.eviction_hard) {
    if (threshold.signal == "memory.available") {
      Take(&left, "memory", Bytes(threshold.Of(facts.machine.memory_bytes)));
    } else if (threshold.signal == "nodefs.available") {
      Take(&left, "ephemeral-storage", Bytes(threshold.Of(facts.storage_bytes)));
    }
  }
  for (const HugePages& pages : facts.machine.huge_pages) {
    Take(&left, "memory", Bytes(pages.size_bytes * pages.count));
  }
  return left;
}

void SetResources(const NodeFacts& facts, const NodeOptions& options, NodeStatus* status) {
  Map<Quantity> capacity = Capacity(facts, options);
  Map<Quantity> allocatable = Allocatable(capacity, facts, options);
  // Resources with a domain belong to device plugins or administrators: keep them.
  for (const auto& [name, amount] : status->capacity) {
    if (name.find('/') != std::string::npos) capacity[name] = amount;
  }
  for (const auto& [name, amount] : status->allocatable) {
    if (name.find('/') != std::string::npos) allocatable[name] = amount;
  }
  status->capacity = std::move(capacity);
  status->allocatable = std::move(allocatable);
}

void SetInfo(const NodeFacts& facts, const NodeOptions& options, NodeStatus* status) {
  core::v1::NodeSystemInfo& info = status->nodeInfo;
  info.machineID = facts.machine.machine_id;
  info.systemUUID = facts.machine.system_uuid;
  info.bootID = facts.machine.boot_id;
  info.kernelVersion = facts.machine.kernel;
  info.osImage = facts.machine.os_image;
  info.operatingSystem = "linux";
  info.architecture = facts.machine.architecture;
  info.kubeletVersion = options.kubelet_version;
  info.kubeProxyVersion.clear();
  info.swap.ensure().capacity = facts.machine.swap_bytes;
  // Keep the last runtime version while the runtime does not respond.
  if (!facts.runtime.name.empty()) {
    std::string_view version = facts.runtime.version;
    if (version.starts_with('v')) version.remove_prefix(1);
    info.containerRuntimeVersion = facts.runtime.name + "://" + std::string(version);
  }
}

void SetAddresses(const NodeOptions& options, NodeStatus* status) {
  status->addresses.clear();
  bool seen[2] = {false, false};
  for (const std::string& ip : options.ips) {
    bool& family = seen[ip.find(':') == std::string::npos ? 0 : 1];
    if (!family) status->addresses.push_back({.type = "InternalIP", .address = ip});
    family = true;
  }
  status->addresses.push_back({.type = "Hostname", .address = options.name});
}

void SetHandlers(const NodeFacts& facts, NodeStatus* status) {
  if (!facts.runtime_status.ok()) return;
  status->runtimeHandlers.clear();
  for (const cri::v1::RuntimeHandler& handler : facts.runtime_status->handlers) {
    core::v1::NodeRuntimeHandler& to = status->runtimeHandlers.emplace_back();
    to.name = handler.name;
    if (!handler.features) continue;
    to.features.ensure().recursiveReadOnlyMounts = handler.features->recursive_read_only_mounts;
    to.features.ensure().userNamespaces = handler.features->user_namespaces;
  }
  std::sort(status->runtimeHandlers.begin(), status->runtimeHandlers.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

NodeCondition Condition(std::string_view type, bool holds, std::string_view reason,
                        std::string message, const Time& now) {
  return {.type = std::string(type),
          .status = holds ? "True" : "False",
          .lastHeartbeatTime = now,
          .reason = std::string(reason),
          .message = std::move(message)};
}

void SetConditions(const NodeFacts& facts, const Time& now, NodeStatus* status) {
  const Pressure& pressure = facts.pressure;
  List<NodeCondition>& to = status->conditions;
  SetCondition(to,
               pressure.memory ? Condition("MemoryPressure", true, "KubeletHasInsufficientMemory",
                                           "kubelet has insufficient memory available", now)
                               : Condition("MemoryPressure", false, "KubeletHasSufficientMemory",
                                           "kubelet has sufficient memory available", now),
               now);
  SetCondition(to,
               pressure.disk ? Condition("DiskPressure", true, "KubeletHasDiskPressure",
                                         "kubelet has disk pressure", now)
                             : Condition("DiskPressure", false, "KubeletHasNoDiskPressure",
                                         "kubelet has no disk pressure", now),
               now);
  SetCondition(to,
               pressure.pid ? Condition("PIDPressure", true, "KubeletHasInsufficientPID",
                                        "kubelet has insufficient PID available", now)
                            : Condition("PIDPressure", false, "KubeletHasSufficientPID",
                                        "kubelet has sufficient PID available", now),
               now);
  std::string wrong = NotReadyMessage(facts);
  SetCondition(to,
               wrong.empty() ? Condition("Ready", true, "KubeletReady",
                                         "kubelet is posting ready status", now)
                             : Condition("Ready", false, "KubeletNotReady", std::move(wrong), now),
               now);
}

// Upstream's text for a runtime condition that is false.
std::string NotReady(std::string_view what, std::string_view type,
                     const runtime::Readiness& readiness) {
  return std::string(what) + " not ready: " + std::string(type) +
         "=false reason:" + readiness.reason + " message:" + readiness.message;
}

}  // namespace

std::string NotReadyMessage(const NodeFacts& facts) {
  std::vector<std::string> wrong;
  if (!facts.runtime_status.ok()) {
    wrong.push_back("container runtime is down");
  } else {
    const runtime::RuntimeStatus& status = *facts.runtime_status;
    if (!status.runtime.ready) {
      wrong.push_back(NotReady("container runtime", "RuntimeReady", status.runtime));
    }
    if (!status.network.ready) {
      wrong.push_back(NotReady("container runtime network", "NetworkReady", status.network));
    }
  }
  if (!facts.pods.ok()) wrong.push_back(facts.pods.message());
  if (wrong.empty()) return {};
  return wrong.size() == 1 ? wrong.front() : "[" + Join(wrong, ", ") + "]";
}

NodeStatus BuildNodeStatus(const NodeStatus& present, const NodeFacts& facts,
                           const NodeOptions& options, const Time& now) {
  NodeStatus status = present;
  SetAddresses(options, &status);
  SetResources(facts, options, &status);
  SetInfo(facts, options, &status);
  status.daemonEndpoints.kubeletEndpoint.Port = options.port;
  status.images = ListedImages(facts.images, options.max_images);
  SetHandlers(facts, &status);
  status.volumesInUse.clear();
  SetConditions(facts, now, &status);
  return status;
}

bool NodeStatusChanged(const NodeStatus& a, const NodeStatus& b) {
  NodeStatus left = a;
  NodeStatus right = b;
  for (NodeStatus* status : {&left, &right}) {
    for (NodeCondition& condition : status->conditions) condition.lastHeartbeatTime = {};
  }
  return !DeepEqual(left, right);
}

bool IsReady(const NodeStatus& status) { return IsTrue(status.conditions, "Ready"); }

Result<std::string> NodeStatusPatch(const Node& before, const NodeStatus& after) {
  Node from;
  from.status = before.status;
  Node to;
  to.status = after;
  COX_ASSIGN_OR_RETURN(Value patch, patch::CreateTwoWayStrategicPatch(
                                        json::ToValue(from), json::ToValue(to), Node::kType));
  Value* status = patch.Find("status");
  if (status == nullptr || !status->is_object()) return std::string();
  // The UID is a precondition: the patch must not apply to a recreated Node.
  return json::Write(
      Value::MakeObject({{"metadata", Value::MakeObject({{"uid", before.metadata.uid}})},
                         {"status", std::move(*status)}}));
}

List<core::v1::ContainerImage> ListedImages(const List<cri::v1::Image>& images, size_t limit) {
  List<core::v1::ContainerImage> listed;
  listed.reserve(images.size());
  for (const cri::v1::Image& image : images) {
    core::v1::ContainerImage& to = listed.emplace_back();
    to.names = image.repo_digests;
    to.names.insert(to.names.end(), image.repo_tags.begin(), image.repo_tags.end());
    if (to.names.size() > kMaxNamesPerImage) to.names.resize(kMaxNamesPerImage);
    to.sizeBytes = static_cast<int64_t>(image.size);
    if (to.names.empty()) listed.pop_back();
  }
  std::sort(listed.begin(), listed.end(), [](const auto& a, const auto& b) {
    if (a.sizeBytes != b.sizeBytes) return a.sizeBytes > b.sizeBytes;
    return std::lexicographical_compare(a.names.begin(), a.names.end(), b.names.begin(),
                                        b.names.end());
  });
  if (listed.size() > limit) listed.resize(limit);
  return listed;
}

}  // namespace cox::kubelet
