// SPDX-License-Identifier: Apache-2.0
#include "scheduler/resource_metrics.h"

#include <string_view>

#include "object/core/pod_amounts.h"
#include "object/core/pod_state.h"
#include "scheduler/cache/resources.h"

namespace cox::scheduler {
namespace {

using core::v1::Container;
using core::v1::Pod;

// The limits of a Pod: like its requests, but the overhead is added only to limited resources.
Amounts LimitsOf(const Pod& pod) {
  Amounts limits = core_rules::AggregateContainerResources(
      pod.spec,
      [](const Container& container, bool) { return Amounts::Of(container.resources.limits); },
      [](Amounts& amounts, const Amounts& more) { amounts.Add(more); },
      [](Amounts& amounts, const Amounts& other) { amounts.Max(other); });
  if (pod.spec.resources) {
    const Amounts whole = Amounts::Of(pod.spec.resources->limits);
    for (const auto& [name, quantity] : pod.spec.resources->limits)
      limits.At(name) = whole.Get(name);
  }
  const Amounts overhead = Amounts::Of(pod.spec.overhead);
  for (const auto& [name, quantity] : pod.spec.overhead) {
    if (limits.Get(name) != 0) limits.At(name) += overhead.Get(name);
  }
  return limits;
}

std::string_view UnitOf(std::string_view resource) {
  const bool bytes = resource == "memory" || resource == "storage" ||
                     resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  return bytes ? "bytes" : "integer";
}

void AddSamples(const Pod& pod, const Amounts& amounts, MetricText& metric) {
  MetricText::Labels labels = {
      {"namespace", pod.metadata.namespace_},
      {"node", pod.spec.nodeName},
      {"pod", pod.metadata.name},
      {"priority", pod.spec.priority.has_value() ? std::to_string(*pod.spec.priority) : ""},
      {"resource", ""},
      {"scheduler", pod.spec.schedulerName},
      {"unit", ""}};
  const auto add = [&](std::string_view resource, std::string_view unit, double value) {
    if (value == 0) return;
    labels[4].second = resource;
    labels[6].second = unit;
    metric.Add(labels, value);
  };
  add("cpu", "cores", static_cast<double>(amounts.milli_cpu) / 1000);
  add("memory", "bytes", static_cast<double>(amounts.memory));
  add("ephemeral-storage", "bytes", static_cast<double>(amounts.ephemeral_storage));
  for (const auto& [name, value] : amounts.extended) {
    add(name, UnitOf(name), static_cast<double>(value));
  }
}

}  // namespace

PodResourceMetrics::PodResourceMetrics()
    : limits_({.name = "kube_pod_resource_limit",
               .help = "Limit of a Pod for a resource, with the unit of the resource.",
               .stability = Stability::kStable},
              "gauge"),
      requests_({.name = "kube_pod_resource_request",
                 .help = "Request of a Pod for a resource, with the unit of the resource.",
                 .stability = Stability::kStable},
                "gauge") {}

void PodResourceMetrics::Add(const Pod& pod) {
  if (!pod.spec.nodeName.empty() && core_rules::IsTerminal(pod)) return;
  AddSamples(pod, LimitsOf(pod), limits_);
  AddSamples(pod, RequestsOf(pod), requests_);
}

std::string PodResourceMetrics::Take() { return limits_.Take() + requests_.Take(); }

}  // namespace cox::scheduler
