// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/resources.h"

#include <algorithm>

#include "coxswain/conditions.h"
#include "object/core/pod_amounts.h"

namespace cox::scheduler {
namespace {

using core::v1::Container;
using core::v1::ContainerStatus;
using core::v1::Pod;

const ContainerStatus* StatusOf(const List<ContainerStatus>& statuses, const std::string& name) {
  const auto found = std::find_if(statuses.begin(), statuses.end(),
                                  [&](const ContainerStatus& s) { return s.name == name; });
  return found == statuses.end() ? nullptr : &*found;
}

bool ResizeIsInfeasible(const Pod& pod) {
  const core::v1::PodCondition* condition =
      FindCondition(pod.status.conditions, "PodResizePending");
  return condition != nullptr && condition->reason == "Infeasible";
}

Amounts OfContainer(const Container& container, const ContainerStatus* status, bool infeasible,
                    bool defaults) {
  Amounts amounts = Amounts::Of(container.resources.requests);
  if (status != nullptr && (!status->allocatedResources.empty() || status->resources.has_value())) {
    Amounts has = Amounts::Of(status->allocatedResources);
    if (status->resources) has.Max(Amounts::Of(status->resources->requests));
    if (infeasible) {
      amounts = has;  // the requested resize will not happen
    } else {
      amounts.Max(has);
    }
  }
  if (defaults) {
    if (!container.resources.requests.contains("cpu")) amounts.milli_cpu = kDefaultMilliCpu;
    if (!container.resources.requests.contains("memory")) amounts.memory = kDefaultMemory;
  }
  return amounts;
}

Amounts Total(const Pod& pod, bool defaults) {
  const bool infeasible = ResizeIsInfeasible(pod);
  Amounts total = core_rules::AggregateContainerResources(
      pod.spec,
      [&](const Container& container, bool init) {
        const auto& statuses =
            init ? pod.status.initContainerStatuses : pod.status.containerStatuses;
        return OfContainer(container, StatusOf(statuses, container.name), infeasible, defaults);
      },
      [](Amounts& amounts, const Amounts& more) { amounts.Add(more); },
      [](Amounts& amounts, const Amounts& other) { amounts.Max(other); });
  if (pod.spec.resources) {
    const Amounts whole = Amounts::Of(pod.spec.resources->requests);
    for (const auto& [name, quantity] : pod.spec.resources->requests) {
      if (name == "cpu" || name == "memory" || name.starts_with("hugepages-")) {
        total.At(name) = whole.Get(name);
      }
    }
  }
  total.Add(Amounts::Of(pod.spec.overhead));
  return total;
}

}  // namespace

Amounts Amounts::Of(const Map<Quantity>& list) {
  Amounts amounts;
  for (const auto& [name, quantity] : list) {
    if (name == "pods") continue;  // a capacity of nodes, not a request of Pods
    amounts.At(name) = name == "cpu" ? quantity.MilliValue() : quantity.Value();
  }
  return amounts;
}

int64_t Amounts::Get(std::string_view name) const {
  if (name == "cpu") return milli_cpu;
  if (name == "memory") return memory;
  if (name == "ephemeral-storage") return ephemeral_storage;
  for (const auto& [key, value] : extended) {
    if (key == name) return value;
  }
  return 0;
}

int64_t& Amounts::At(std::string_view name) {
  if (name == "cpu") return milli_cpu;
  if (name == "memory") return memory;
  if (name == "ephemeral-storage") return ephemeral_storage;
  auto at =
      std::lower_bound(extended.begin(), extended.end(), name,
                       [](const auto& entry, std::string_view key) { return entry.first < key; });
  if (at == extended.end() || at->first != name) at = extended.insert(at, {std::string(name), 0});
  return at->second;
}

void Amounts::Add(const Amounts& other) {
  milli_cpu += other.milli_cpu;
  memory += other.memory;
  ephemeral_storage += other.ephemeral_storage;
  for (const auto& [name, value] : other.extended) At(name) += value;
}

void Amounts::Sub(const Amounts& other) {
  milli_cpu -= other.milli_cpu;
  memory -= other.memory;
  ephemeral_storage -= other.ephemeral_storage;
  for (const auto& [name, value] : other.extended) At(name) -= value;
}

void Amounts::Max(const Amounts& other) {
  milli_cpu = std::max(milli_cpu, other.milli_cpu);
  memory = std::max(memory, other.memory);
  ephemeral_storage = std::max(ephemeral_storage, other.ephemeral_storage);
  for (const auto& [name, value] : other.extended) {
    int64_t& mine = At(name);
    mine = std::max(mine, value);
  }
}

bool Amounts::IsZero() const {
  return milli_cpu == 0 && memory == 0 && ephemeral_storage == 0 &&
         std::all_of(extended.begin(), extended.end(),
                     [](const auto& entry) { return entry.second == 0; });
}

Amounts RequestsOf(const Pod& pod) { return Total(pod, false); }
Amounts RequestsWithDefaults(const Pod& pod) { return Total(pod, true); }

}  // namespace cox::scheduler
