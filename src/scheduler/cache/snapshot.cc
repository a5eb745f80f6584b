// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/snapshot.h"

#include <algorithm>

namespace cox::scheduler {
namespace {

// Pods select by few labels. If there are many (such as one per Pod), the columns are discarded.
constexpr size_t kMaxLabelColumns = 256;

void Resize(ResourceColumn& column, size_t size) {
  column.allocatable.resize(size);
  column.requested.resize(size);
}

void Put(ResourceColumn& column, NodeIndex node, int64_t allocatable, int64_t requested) {
  column.allocatable[node] = allocatable;
  column.requested[node] = requested;
}

}  // namespace

std::string ZoneOf(const core::v1::Node& node) {
  const auto label = [&](std::string_view key, std::string_view old) {
    const std::string* value = node.metadata.labels.Get(key);
    if (value == nullptr) value = node.metadata.labels.Get(old);
    return value == nullptr ? std::string() : *value;
  };
  const std::string region =
      label("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region");
  const std::string zone =
      label("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone");
  return region.empty() && zone.empty() ? "" : region + '\0' + zone;
}

int64_t Snapshot::Find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : static_cast<int64_t>(found->second);
}

const ResourceColumn& Snapshot::extended(const std::string& name) const {
  ResourceColumn& column = extended_[name];
  Resize(column, nodes_.size());
  return column;
}

void Snapshot::Set(NodeIndex node, const NodeInfo& info) {
  if (node >= nodes_.size()) Grow(node + 1);
  if (nodes_[node] != info.node) SetObject(node, info.node);
  generation_[node] = info.generation;
  SetResources(node, info);
}

void Snapshot::Finish() {
  if (labels_.size() > kMaxLabelColumns) {
    labels_.Clear();
    ++epoch_;
  }
  if (reorder_) Reorder();
  reorder_ = false;
}

void Snapshot::Grow(size_t size) {
  nodes_.resize(size);
  generation_.resize(size);
  unschedulable_.resize(size);
  taint_set_.resize(size);
  for (ResourceColumn* column : {&cpu_, &memory_, &ephemeral_storage_, &pods_}) {
    Resize(*column, size);
  }
  for (auto& [name, column] : extended_) Resize(column, size);
  score_milli_cpu_.resize(size);
  score_memory_.resize(size);
  ports_.resize(size);
}

void Snapshot::SetObject(NodeIndex node, const std::shared_ptr<const core::v1::Node>& object) {
  const std::shared_ptr<const core::v1::Node> before = nodes_[node];
  const bool same_place = before != nullptr && object != nullptr &&
                          before->metadata.name == object->metadata.name &&
                          ZoneOf(*before) == ZoneOf(*object);
  if (!same_place) {
    reorder_ = true;
    ++epoch_;
    if (before != nullptr) Unname(before->metadata.name, node);
    if (object != nullptr) by_name_[object->metadata.name] = node;
  }
  nodes_[node] = object;
  if (images_.Set(node, before.get(), object.get())) ++epoch_;
  labels_.Set(node, object.get());
  unschedulable_[node] = object != nullptr && object->spec.unschedulable ? 1 : 0;
  taint_set_[node] = object == nullptr ? 0 : Intern(object->spec.taints);
}

// The name may belong to another index already, if the node was deleted and recreated.
void Snapshot::Unname(const std::string& name, NodeIndex node) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end() && found->second == node) by_name_.erase(found);
}

void Snapshot::SetResources(NodeIndex node, const NodeInfo& info) {
  Put(cpu_, node, info.allocatable.milli_cpu, info.requested.milli_cpu);
  Put(memory_, node, info.allocatable.memory, info.requested.memory);
  Put(ephemeral_storage_, node, info.allocatable.ephemeral_storage,
      info.requested.ephemeral_storage);
  Put(pods_, node, info.allowed_pods, static_cast<int64_t>(info.pods.size()));
  for (const auto* amounts : {&info.allocatable, &info.requested}) {
    for (const auto& [name, value] : amounts->extended) Resize(extended_[name], nodes_.size());
  }
  for (auto& [name, column] : extended_) {
    Put(column, node, info.allocatable.Get(name), info.requested.Get(name));
  }
  score_milli_cpu_[node] = info.score_milli_cpu;
  score_memory_[node] = info.score_memory;
  if (!info.ports.empty() || !ports_[node].empty()) ports_[node] = info.ports;
}

Snapshot::TaintSet Snapshot::Intern(const List<core::v1::Taint>& taints) {
  std::string key;
  for (const core::v1::Taint& taint : taints) {
    key += taint.key + '\0' + taint.value + '\0' + taint.effect + '\0';
  }
  const auto [at, added] = taint_set_ids_.try_emplace(key, taint_sets_.size());
  if (added) taint_sets_.push_back(taints);
  return at->second;
}

void Snapshot::Reorder() {
  std::vector<std::vector<NodeIndex>> zones;
  std::unordered_map<std::string, size_t> zone_numbers;
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i] == nullptr) continue;
    const auto [at, added] = zone_numbers.try_emplace(ZoneOf(*nodes_[i]), zones.size());
    if (added) zones.emplace_back();
    zones[at->second].push_back(i);
  }
  order_.clear();
  for (size_t turn = 0; order_.size() < by_name_.size(); ++turn) {
    for (const std::vector<NodeIndex>& zone : zones) {
      if (turn < zone.size()) order_.push_back(zone[turn]);
    }
  }
}

}  // namespace cox::scheduler
