// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/core/v1.h"
#include "scheduler/cache/scheduler_cache.h"
#include "scheduler/plugins/plugins.h"

// Nodes and Pods for tests of the scheduler.
namespace cox::scheduler {

inline Quantity Q(std::string_view text) { return *Quantity::Parse(text); }

inline core::v1::Node TestNode(const std::string& name, std::string_view cpu = "4",
                               std::string_view memory = "8Gi", int64_t pods = 110) {
  core::v1::Node node;
  node.metadata.name = name;
  node.metadata.labels["kubernetes.io/hostname"] = name;
  node.status.allocatable["cpu"] = Q(cpu);
  node.status.allocatable["memory"] = Q(memory);
  node.status.allocatable["pods"] = Quantity(pods);
  return node;
}

// A Pod with one container; "" means no request.
inline core::v1::Pod TestPod(const std::string& name, std::string_view cpu = "",
                             std::string_view memory = "") {
  core::v1::Pod pod;
  pod.metadata.name = name;
  pod.metadata.namespace_ = "default";
  pod.metadata.uid = "uid-" + name;
  pod.spec.schedulerName = "default-scheduler";
  auto& container = pod.spec.containers.emplace_back();
  container.name = "c";
  container.image = "image";
  if (!cpu.empty()) container.resources.requests["cpu"] = Q(cpu);
  if (!memory.empty()) container.resources.requests["memory"] = Q(memory);
  return pod;
}

inline core::v1::Taint TestTaint(std::string key, std::string value, std::string effect) {
  core::v1::Taint taint;
  taint.key = std::move(key);
  taint.value = std::move(value);
  taint.effect = std::move(effect);
  return taint;
}

inline core::v1::NodeSelectorRequirement TestRequirement(std::string key, std::string op,
                                                         List<std::string> values = {}) {
  core::v1::NodeSelectorRequirement requirement;
  requirement.key = std::move(key);
  requirement.operator_ = std::move(op);
  requirement.values = std::move(values);
  return requirement;
}

inline std::shared_ptr<const core::v1::Node> Share(core::v1::Node node) {
  return std::make_shared<const core::v1::Node>(std::move(node));
}
inline PodInfoPtr Info(core::v1::Pod pod) {
  return MakePodInfo(std::make_shared<const core::v1::Pod>(std::move(pod)));
}
inline PodInfoPtr On(core::v1::Pod pod, std::string node) {
  pod.spec.nodeName = std::move(node);
  return Info(std::move(pod));
}

// A snapshot of nodes and their Pods.
class TestSnapshot {
 public:
  explicit TestSnapshot(Clock& clock) : cache(clock) {}

  TestSnapshot& Add(core::v1::Node node) {
    cache.SetNode(Share(std::move(node)));
    return *this;
  }
  TestSnapshot& Add(core::v1::Pod pod, std::string node) {
    (void)cache.SetPod(*On(std::move(pod), std::move(node)));
    return *this;
  }
  const Snapshot& Take() {
    cache.UpdateSnapshot(snapshot);
    return snapshot;
  }

  SchedulerCache cache;
  Snapshot snapshot;
};

}  // namespace cox::scheduler
