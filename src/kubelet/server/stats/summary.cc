// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "kubelet/server/stats/stats.h"
#include "runtime/labels.h"

namespace cox::kubelet {
namespace {

using cri::v1::ContainerStats;
using cri::v1::PodSandboxStats;

std::string TimeOf(int64_t nanos, const Time& fallback) {
  return (nanos > 0 ? Time::FromUnixNanos(nanos) : fallback).ToString();
}

// Adds a member if the runtime reported the value.
void Put(Value* to, std::string_view name, const Box<cri::v1::UInt64Value>& number) {
  if (number) to->as_object()[name] = static_cast<int64_t>(number->value);
}

Value Cpu(const Box<cri::v1::CpuUsage>& cpu, const Time& now) {
  Value to = Value::MakeObject({{"time", TimeOf(cpu ? cpu->timestamp : 0, now)}});
  if (!cpu) return to;
  Put(&to, "usageNanoCores", cpu->usage_nano_cores);
  Put(&to, "usageCoreNanoSeconds", cpu->usage_core_nano_seconds);
  return to;
}

Value Memory(const Box<cri::v1::MemoryUsage>& memory, const Time& now) {
  Value to = Value::MakeObject({{"time", TimeOf(memory ? memory->timestamp : 0, now)}});
  if (!memory) return to;
  Put(&to, "availableBytes", memory->available_bytes);
  Put(&to, "usageBytes", memory->usage_bytes);
  Put(&to, "workingSetBytes", memory->working_set_bytes);
  Put(&to, "rssBytes", memory->rss_bytes);
  Put(&to, "pageFaults", memory->page_faults);
  Put(&to, "majorPageFaults", memory->major_page_faults);
  return to;
}

Value Fs(const Filesystem& fs, const Time& now) {
  return Value::MakeObject({{"time", now.ToString()},
                            {"availableBytes", fs.available_bytes},
                            {"capacityBytes", fs.capacity_bytes},
                            {"usedBytes", fs.capacity_bytes - fs.available_bytes},
                            {"inodesFree", fs.inodes_free},
                            {"inodes", fs.inodes},
                            {"inodesUsed", fs.inodes - fs.inodes_free}});
}

Value Interface(const cri::v1::NetworkInterfaceUsage& from) {
  Value to = Value::MakeObject({{"name", from.name}});
  Put(&to, "rxBytes", from.rx_bytes);
  Put(&to, "rxErrors", from.rx_errors);
  Put(&to, "txBytes", from.tx_bytes);
  Put(&to, "txErrors", from.tx_errors);
  return to;
}

Value Network(const cri::v1::NetworkUsage& from, const Time& now) {
  Value to = from.default_interface ? Interface(*from.default_interface) : Value::MakeObject();
  to.as_object()["time"] = TimeOf(from.timestamp, now);
  Value::Array interfaces;
  for (const auto& one : from.interfaces) interfaces.push_back(Interface(one));
  if (from.default_interface && interfaces.empty()) {
    interfaces.push_back(Interface(*from.default_interface));
  }
  to.as_object()["interfaces"] = std::move(interfaces);
  return to;
}

std::string StartOf(Clock::WallTime at) {
  return Time::FromUnix(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count())
      .ToString();
}

Value Container(const ContainerStats& from, const runtime::PodState* pod, const Usage& usage) {
  const std::string* name = from.attributes->labels.Get(runtime::label::kContainerName);
  Value to = Value::MakeObject({{"name", name != nullptr ? *name : std::string()},
                                {"cpu", Cpu(from.cpu, usage.now)},
                                {"memory", Memory(from.memory, usage.now)}});
  if (pod != nullptr) {
    for (const runtime::ContainerState& state : pod->containers) {
      if (state.id == from.attributes->id) to.as_object()["startTime"] = StartOf(state.created);
    }
  }
  Value rootfs = Value::MakeObject({{"time", usage.now.ToString()},
                                    {"availableBytes", usage.images.available_bytes},
                                    {"capacityBytes", usage.images.capacity_bytes},
                                    {"inodesFree", usage.images.inodes_free},
                                    {"inodes", usage.images.inodes}});
  if (from.writable_layer) {
    Put(&rootfs, "usedBytes", from.writable_layer->used_bytes);
    Put(&rootfs, "inodesUsed", from.writable_layer->inodes_used);
  }
  to.as_object()["rootfs"] = std::move(rootfs);
  return to;
}

Value Pod(const PodSandboxStats& from, Value::Array containers, const runtime::PodState* pod,
          const Usage& usage) {
  const runtime::PodName name = runtime::PodOf(from.attributes->labels);
  Value to = Value::MakeObject(
      {{"podRef",
        Value::MakeObject({{"name", name.name}, {"namespace", name.ns}, {"uid", name.uid}})},
       {"containers", std::move(containers)}});
  if (pod != nullptr && !pod->sandboxes.empty()) {
    to.as_object()["startTime"] = StartOf(pod->sandboxes.front().created);
  }
  if (!from.linux) return to;
  to.as_object()["cpu"] = Cpu(from.linux->cpu, usage.now);
  to.as_object()["memory"] = Memory(from.linux->memory, usage.now);
  if (from.linux->network) to.as_object()["network"] = Network(*from.linux->network, usage.now);
  if (from.linux->process && from.linux->process->process_count) {
    to.as_object()["process_stats"] = Value::MakeObject(
        {{"process_count", static_cast<int64_t>(from.linux->process->process_count->value)}});
  }
  return to;
}

Value Node(const Usage& usage) {
  const NodeUsage& node = usage.node;
  const std::string now = usage.now.ToString();
  return Value::MakeObject(
      {{"nodeName", usage.node_name},
       {"startTime", node.started.ToString()},
       {"cpu", Value::MakeObject({{"time", now}, {"usageCoreNanoSeconds", node.cpu_nanos}})},
       {"memory", Value::MakeObject({{"time", now},
                                     {"availableBytes", node.memory_available_bytes},
                                     {"usageBytes", node.memory_usage_bytes},
                                     {"workingSetBytes", node.memory_working_set_bytes}})},
       {"fs", Fs(node.fs, usage.now)},
       {"runtime", Value::MakeObject({{"imageFs", Fs(usage.images, usage.now)},
                                      {"containerFs", Fs(usage.images, usage.now)}})},
       {"rlimit",
        Value::MakeObject({{"time", now}, {"maxpid", node.max_pids}, {"curproc", node.pids}})}});
}

}  // namespace

Value StatsSummary(const Usage& usage) {
  std::map<std::string, const runtime::PodState*> states;
  for (const runtime::PodState& pod : usage.pods) states[pod.uid] = &pod;
  const auto state_of = [&](const std::string& uid) {
    const auto found = states.find(uid);
    return found == states.end() ? nullptr : found->second;
  };
  std::map<std::string, Value::Array> containers;  // by the Pod's uid
  for (const ContainerStats& stats : usage.containers) {
    if (!stats.attributes) continue;
    const std::string uid = runtime::PodOf(stats.attributes->labels).uid;
    if (!uid.empty()) containers[uid].push_back(Container(stats, state_of(uid), usage));
  }
  Value::Array pods;
  for (const PodSandboxStats& stats : usage.sandboxes) {
    if (!stats.attributes) continue;
    const std::string uid = runtime::PodOf(stats.attributes->labels).uid;
    if (uid.empty()) continue;
    pods.push_back(Pod(stats, std::move(containers[uid]), state_of(uid), usage));
  }
  return Value::MakeObject({{"node", Node(usage)}, {"pods", std::move(pods)}});
}

}  // namespace cox::kubelet
