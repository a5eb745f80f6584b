// SPDX-License-Identifier: Apache-2.0
#include "simulate/node_life.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/build_info.h"
#include "coxswain/conditions.h"
#include "object/codec/json/json.h"
#include "simulate/addresses.h"

namespace cox::simulate {
namespace {

using coordination::v1::Lease;
using core::v1::Node;
using core::v1::NodeStatus;
using std::chrono::seconds;

constexpr int kRenewalsPerLease = 4;

Time Seconds(Clock::WallTime time) {
  return Time::FromUnix(std::chrono::floor<seconds>(time.time_since_epoch()).count());
}

void Add(NodeStatus& status, const char* type, const char* holds, const char* reason,
         const char* message, const Time& now) {
  core::v1::NodeCondition& condition = status.conditions.emplace_back();
  condition.type = type;
  condition.status = holds;
  condition.reason = reason;
  condition.message = message;
  condition.lastHeartbeatTime = now;
  condition.lastTransitionTime = now;
}

}  // namespace

std::string NodeName(const Options& options, int number) {
  return options.prefix + std::to_string(number);
}

std::optional<int> NodeNumber(const Options& options, std::string_view name) {
  if (name.substr(0, options.prefix.size()) != options.prefix) return std::nullopt;
  name.remove_prefix(options.prefix.size());
  int number = -1;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size()) return std::nullopt;
  // "007" is another name.
  if (number < 0 || number >= options.nodes || std::to_string(number) != name) return std::nullopt;
  return number;
}

NodeStatus MakeStatus(const Options& options, int number, Clock::WallTime now) {
  NodeStatus status;
  for (auto* amounts : {&status.capacity, &status.allocatable}) {
    (*amounts)["cpu"] = *Quantity::Parse(options.cpu);
    (*amounts)["memory"] = *Quantity::Parse(options.memory);
    (*amounts)["ephemeral-storage"] = *Quantity::Parse("1Ti");
    (*amounts)["pods"] = Quantity(options.pods_per_node);
  }
  const Time second = Seconds(now);
  Add(status, "MemoryPressure", "False", "KubeletHasSufficientMemory",
      "kubelet has sufficient memory available", second);
  Add(status, "DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure",
      second);
  Add(status, "PIDPressure", "False", "KubeletHasSufficientPID",
      "kubelet has sufficient PID available", second);
  Add(status, "Ready", "True", "KubeletReady", "the node is simulated and ready", second);
  status.addresses.push_back({.type = "InternalIP", .address = NodeAddress(number)});
  status.addresses.push_back({.type = "Hostname", .address = NodeName(options, number)});
  core::v1::NodeSystemInfo& info = status.nodeInfo;
  info.machineID = info.systemUUID = info.bootID = NodeName(options, number);
  info.operatingSystem = "linux";
  info.architecture = "amd64";
  info.osImage = "simulated";
  info.kernelVersion = "simulated";
  info.containerRuntimeVersion = "simulated://1";
  info.kubeletVersion = GetBuildInfo().git_version;
  return status;
}

Node MakeNode(const Options& options, int number, Clock::WallTime now) {
  Node node;
  node.metadata.name = NodeName(options, number);
  node.metadata.labels = options.labels;
  auto& labels = node.metadata.labels;
  labels["kubernetes.io/hostname"] = node.metadata.name;
  labels["kubernetes.io/os"] = "linux";
  labels["kubernetes.io/arch"] = "amd64";
  labels["topology.kubernetes.io/region"] = "simulated";
  labels["topology.kubernetes.io/zone"] =
      "zone-" + std::to_string(number % std::max(options.zones, 1));
  labels["coxswain.dev/simulated"] = "true";
  node.status = MakeStatus(options, number, now);
  return node;
}

std::string StatusPatchOf(const Options& options, const Node& node, int number,
                          Clock::WallTime now) {
  NodeStatus status = MakeStatus(options, number, now);
  for (core::v1::NodeCondition& condition : status.conditions) {
    const core::v1::NodeCondition* present = FindCondition(node.status.conditions, condition.type);
    if (present != nullptr && present->status == condition.status) {
      condition.lastTransitionTime = present->lastTransitionTime;
    }
  }
  return "{\"status\":" + json::Encode(status) + "}";
}

bool IsSilenced(const Node& node) {
  const auto found = node.metadata.annotations.find(kFail);
  return found != node.metadata.annotations.end() && found->second != "false";
}

StatusDue NextHeartbeat(const Node& node, const Options& options, Clock::WallTime now) {
  const core::v1::NodeCondition* ready = FindCondition(node.status.conditions, "Ready");
  if (ready == nullptr || ready->status != "True") return {.now = true};
  const Clock::WallTime due =
      Clock::WallTime(seconds(ready->lastHeartbeatTime.unix_seconds())) + options.status_period;
  if (due <= now) return {.now = true};
  return {.again = due - now};
}

Lease MakeLease(const Options& options, const Node& node, Clock::WallTime now) {
  Lease lease;
  lease.metadata.namespace_ = "kube-node-lease";
  lease.metadata.name = node.metadata.name;
  meta::v1::OwnerReference& owner = lease.metadata.ownerReferences.emplace_back();
  owner.apiVersion = "v1";
  owner.kind = "Node";
  owner.name = node.metadata.name;
  owner.uid = node.metadata.uid;
  lease.spec.holderIdentity = node.metadata.name;
  lease.spec.leaseDurationSeconds = static_cast<int32_t>(options.lease_duration.count());
  lease.spec.renewTime = MicroTime::FromUnixNanos(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count());
  return lease;
}

Clock::Duration UntilRenewal(const Options& options, int number, Clock::WallTime now) {
  const Clock::Duration period = Clock::Duration(options.lease_duration) / kRenewalsPerLease;
  const Clock::Duration own = period / std::max(options.nodes, 1) * number;
  const Clock::Duration at = Clock::Duration(now.time_since_epoch()) % period;
  return own > at ? own - at : own - at + period;
}

}  // namespace cox::simulate
