// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "kubelet/server/stats/stats.h"
#include "runtime/labels.h"

namespace cox::kubelet {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

// One metric: header and samples.
class Family {
 public:
  Family(std::string_view name, std::string_view type, std::string_view help) : name_(name) {
    text_ = "# HELP " + name_ + " " + std::string(help) + "\n# TYPE " + name_ + " " +
            std::string(type) + "\n";
  }
  void Add(const Labels& labels, double value) {
    any_ = true;
    text_ += name_;
    const char* before = "{";
    for (const auto& [name, text] : labels) {
      text_ += before + std::string(name) + "=";
      AppendQuoted(text_, text);
      before = ",";
    }
    if (!labels.empty()) text_ += "}";
    text_ += " " + FormatDouble(value) + "\n";
  }
  void Add(const Labels& labels, const Box<cri::v1::UInt64Value>& value, double scale = 1) {
    if (value) Add(labels, static_cast<double>(value->value) * scale);
  }
  std::string Take() { return any_ ? std::move(text_) : std::string(); }

 private:
  const std::string name_;
  std::string text_;
  bool any_ = false;
};

constexpr double kNano = 1e-9;

double Seconds(Clock::WallTime at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

std::string ContainerName(const cri::v1::ContainerStats& stats) {
  const std::string* name = stats.attributes->labels.Get(runtime::label::kContainerName);
  return name != nullptr ? *name : std::string();
}

}  // namespace

std::string ResourceMetrics(const Usage& usage) {
  Family node_cpu("node_cpu_usage_seconds_total", "counter",
                  "[STABLE] Cumulative cpu time consumed by the node in core-seconds");
  Family node_memory("node_memory_working_set_bytes", "gauge",
                     "[STABLE] Current working set of the node in bytes");
  Family cpu("container_cpu_usage_seconds_total", "counter",
             "[STABLE] Cumulative cpu time consumed by the container in core-seconds");
  Family memory("container_memory_working_set_bytes", "gauge",
                "[STABLE] Current working set of the container in bytes");
  Family start("container_start_time_seconds", "gauge",
               "[STABLE] Start time of the container since unix epoch in seconds");
  Family pod_cpu("pod_cpu_usage_seconds_total", "counter",
                 "[STABLE] Cumulative cpu time consumed by the pod in core-seconds");
  Family pod_memory("pod_memory_working_set_bytes", "gauge",
                    "[STABLE] Current working set of the pod in bytes");
  Family error("resource_scrape_error", "gauge",
               "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise");
  node_cpu.Add({}, static_cast<double>(usage.node.cpu_nanos) * kNano);
  node_memory.Add({}, static_cast<double>(usage.node.memory_working_set_bytes));
  error.Add({}, 0);
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
    if (stats.cpu) cpu.Add(labels, stats.cpu->usage_core_nano_seconds, kNano);
    if (stats.memory) memory.Add(labels, stats.memory->working_set_bytes);
    if (const auto found = began.find(stats.attributes->id); found != began.end()) {
      start.Add(labels, Seconds(found->second));
    }
  }
  for (const cri::v1::PodSandboxStats& stats : usage.sandboxes) {
    if (!stats.attributes || !stats.linux) continue;
    const runtime::PodName pod = runtime::PodOf(stats.attributes->labels);
    if (pod.uid.empty()) continue;
    const Labels labels{{"namespace", pod.ns}, {"pod", pod.name}};
    if (stats.linux->cpu) pod_cpu.Add(labels, stats.linux->cpu->usage_core_nano_seconds, kNano);
    if (stats.linux->memory) pod_memory.Add(labels, stats.linux->memory->working_set_bytes);
  }
  return cpu.Take() + memory.Take() + start.Take() + node_cpu.Take() + node_memory.Take() +
         pod_cpu.Take() + pod_memory.Take() + error.Take();
}

std::string CadvisorMetrics(const Usage& usage) {
  Family cpu("container_cpu_usage_seconds_total", "counter",
             "Cumulative cpu time consumed in seconds.");
  Family working_set("container_memory_working_set_bytes", "gauge",
                     "Current working set in bytes.");
  Family used("container_memory_usage_bytes", "gauge",
              "Current memory usage in bytes, including all memory regardless of when it was "
              "accessed");
  Family rss("container_memory_rss", "gauge", "Size of RSS in bytes.");
  Family layer("container_fs_usage_bytes", "gauge",
               "Number of bytes that are consumed by the container on this filesystem.");
  Family received("container_network_receive_bytes_total", "counter",
                  "Cumulative count of bytes received");
  Family sent("container_network_transmit_bytes_total", "counter",
              "Cumulative count of bytes transmitted");
  Family cores("machine_cpu_cores", "gauge", "Number of logical CPU cores.");
  Family memory("machine_memory_bytes", "gauge", "Amount of memory installed on the machine.");
  for (const cri::v1::ContainerStats& stats : usage.containers) {
    if (!stats.attributes) continue;
    const runtime::PodName pod = runtime::PodOf(stats.attributes->labels);
    if (pod.uid.empty()) continue;
    Labels labels{{"container", ContainerName(stats)},
                  {"name", stats.attributes->id},
                  {"namespace", pod.ns},
                  {"pod", pod.name}};
    if (stats.memory) {
      working_set.Add(labels, stats.memory->working_set_bytes);
      used.Add(labels, stats.memory->usage_bytes);
      rss.Add(labels, stats.memory->rss_bytes);
    }
    if (stats.writable_layer) layer.Add(labels, stats.writable_layer->used_bytes);
    labels.insert(labels.begin() + 1, {"cpu", "total"});
    if (stats.cpu) cpu.Add(labels, stats.cpu->usage_core_nano_seconds, kNano);
  }
  for (const cri::v1::PodSandboxStats& stats : usage.sandboxes) {
    if (!stats.attributes || !stats.linux || !stats.linux->network) continue;
    const runtime::PodName pod = runtime::PodOf(stats.attributes->labels);
    if (pod.uid.empty() || !stats.linux->network->default_interface) continue;
    const auto& link = *stats.linux->network->default_interface;
    const Labels labels{{"interface", link.name}, {"namespace", pod.ns}, {"pod", pod.name}};
    received.Add(labels, link.rx_bytes);
    sent.Add(labels, link.tx_bytes);
  }
  cores.Add({}, static_cast<double>(usage.machine.cpus));
  memory.Add({}, static_cast<double>(usage.machine.memory_bytes));
  return cpu.Take() + layer.Take() + rss.Take() + used.Take() + working_set.Take() +
         received.Take() + sent.Take() + cores.Take() + memory.Take();
}

}  // namespace cox::kubelet
