// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>

#include "base/metric_text.h"
#include "kubelet/server/stats/stats.h"
#include "runtime/labels.h"

namespace cox::kubelet {
namespace {

using Labels = MetricText::Labels;

// Adds a sample if the runtime reports the value.
void Add(MetricText& metric, const Labels& labels, const Box<cri::v1::UInt64Value>& value,
         double scale = 1) {
  if (value) metric.Add(labels, static_cast<double>(value->value) * scale);
}

constexpr double kNano = 1e-9;

double Seconds(Clock::WallTime at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

std::string ContainerName(const cri::v1::ContainerStats& stats) {
  const std::string* name = stats.attributes->labels.Get(runtime::label::kContainerName);
  return name != nullptr ? *name : std::string();
}

void AddContainers(const Usage& usage, MetricText& cpu, MetricText& memory, MetricText& start) {
  std::map<std::string, Clock::WallTime> began;
  for (const runtime::PodState& pod : usage.pods) {
    for (const runtime::ContainerState& state : pod.containers) began[state.id] = state.created;
  }
  for (const cri::v1::ContainerStats& stats : usage.containers) {
    if (!stats.attributes) continue;
    const runtime::PodName pod = runtime::PodOf(stats.attributes->labels);
    if (pod.uid.empty()) continue;
    const Labels labels{
        {"container", ContainerName(stats)}, {"namespace", pod.ns}, {"pod", pod.name}};
    if (stats.cpu) Add(cpu, labels, stats.cpu->usage_core_nano_seconds, kNano);
    if (stats.memory) Add(memory, labels, stats.memory->working_set_bytes);
    if (const auto found = began.find(stats.attributes->id); found != began.end()) {
      start.Add(labels, Seconds(found->second));
    }
  }
}

void AddPods(const Usage& usage, MetricText& cpu, MetricText& memory) {
  for (const cri::v1::PodSandboxStats& stats : usage.sandboxes) {
    if (!stats.attributes || !stats.linux) continue;
    const runtime::PodName pod = runtime::PodOf(stats.attributes->labels);
    if (pod.uid.empty()) continue;
    const Labels labels{{"namespace", pod.ns}, {"pod", pod.name}};
    if (stats.linux->cpu) Add(cpu, labels, stats.linux->cpu->usage_core_nano_seconds, kNano);
    if (stats.linux->memory) Add(memory, labels, stats.linux->memory->working_set_bytes);
  }
}

}  // namespace

std::string ResourceMetrics(const Result<Usage>& usage) {
  const auto metric = [](const char* name, std::string_view type, const char* help) {
    return MetricText({.name = name, .help = help, .stability = Stability::kStable}, type);
  };
  MetricText cpu = metric("container_cpu_usage_seconds_total", "counter",
                          "Cumulative cpu time consumed by the container in core-seconds");
  MetricText memory = metric("container_memory_working_set_bytes", "gauge",
                             "Current working set of the container in bytes");
  MetricText start = metric("container_start_time_seconds", "gauge",
                            "Start time of the container since unix epoch in seconds");
  MetricText node_cpu = metric("node_cpu_usage_seconds_total", "counter",
                               "Cumulative cpu time consumed by the node in core-seconds");
  MetricText node_memory =
      metric("node_memory_working_set_bytes", "gauge", "Current working set of the node in bytes");
  MetricText pod_cpu = metric("pod_cpu_usage_seconds_total", "counter",
                              "Cumulative cpu time consumed by the pod in core-seconds");
  MetricText pod_memory =
      metric("pod_memory_working_set_bytes", "gauge", "Current working set of the pod in bytes");
  MetricText error = metric("resource_scrape_error", "gauge",
                            "1 if there was an error while getting container metrics, 0 otherwise");
  error.Add({}, usage.ok() ? 0 : 1);
  if (usage.ok()) {
    node_cpu.Add({}, static_cast<double>(usage->node.cpu_nanos) * kNano);
    node_memory.Add({}, static_cast<double>(usage->node.memory_working_set_bytes));
    AddContainers(*usage, cpu, memory, start);
    AddPods(*usage, pod_cpu, pod_memory);
  }
  return cpu.Take() + memory.Take() + start.Take() + node_cpu.Take() + node_memory.Take() +
         pod_cpu.Take() + pod_memory.Take() + error.Take();
}

std::string CadvisorMetrics(const Usage& usage) {
  const auto metric = [](const char* name, std::string_view type, const char* help) {
    return MetricText({.name = name, .help = help, .stability = Stability::kNone}, type);
  };
  MetricText cpu = metric("container_cpu_usage_seconds_total", "counter",
                          "Cumulative cpu time consumed in seconds.");
  MetricText working_set =
      metric("container_memory_working_set_bytes", "gauge", "Current working set in bytes.");
  MetricText used =
      metric("container_memory_usage_bytes", "gauge",
             "Current memory usage in bytes, including all memory regardless of when it was "
             "accessed");
  MetricText rss = metric("container_memory_rss", "gauge", "Size of RSS in bytes.");
  MetricText layer =
      metric("container_fs_usage_bytes", "gauge",
             "Number of bytes that are consumed by the container on this filesystem.");
  MetricText received = metric("container_network_receive_bytes_total", "counter",
                               "Cumulative count of bytes received");
  MetricText sent = metric("container_network_transmit_bytes_total", "counter",
                           "Cumulative count of bytes transmitted");
  MetricText cores = metric("machine_cpu_cores", "gauge", "Number of logical CPU cores.");
  MetricText memory =
      metric("machine_memory_bytes", "gauge", "Amount of memory installed on the machine.");
  for (const cri::v1::ContainerStats& stats : usage.containers) {
    if (!stats.attributes) continue;
    const runtime::PodName pod = runtime::PodOf(stats.attributes->labels);
    if (pod.uid.empty()) continue;
    Labels labels{{"container", ContainerName(stats)},
                  {"name", stats.attributes->id},
                  {"namespace", pod.ns},
                  {"pod", pod.name}};
    if (stats.memory) {
      Add(working_set, labels, stats.memory->working_set_bytes);
      Add(used, labels, stats.memory->usage_bytes);
      Add(rss, labels, stats.memory->rss_bytes);
    }
    if (stats.writable_layer) Add(layer, labels, stats.writable_layer->used_bytes);
    labels.insert(labels.begin() + 1, {"cpu", "total"});
    if (stats.cpu) Add(cpu, labels, stats.cpu->usage_core_nano_seconds, kNano);
  }
  for (const cri::v1::PodSandboxStats& stats : usage.sandboxes) {
    if (!stats.attributes || !stats.linux || !stats.linux->network) continue;
    const runtime::PodName pod = runtime::PodOf(stats.attributes->labels);
    if (pod.uid.empty() || !stats.linux->network->default_interface) continue;
    const auto& link = *stats.linux->network->default_interface;
    const Labels labels{{"interface", link.name}, {"namespace", pod.ns}, {"pod", pod.name}};
    Add(received, labels, link.rx_bytes);
    Add(sent, labels, link.tx_bytes);
  }
  cores.Add({}, static_cast<double>(usage.machine.cpus));
  memory.Add({}, static_cast<double>(usage.machine.memory_bytes));
  return cpu.Take() + layer.Take() + rss.Take() + used.Take() + working_set.Take() +
         received.Take() + sent.Take() + cores.Take() + memory.Take();
}

}  // namespace cox::kubelet
