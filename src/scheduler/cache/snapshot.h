// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/core/v1.h"
#include "scheduler/cache/images.h"
#include "scheduler/cache/label_columns.h"
#include "scheduler/cache/node_info.h"

namespace cox::scheduler {

// One resource on all nodes.
struct ResourceColumn {
  std::vector<int64_t> allocatable;
  std::vector<int64_t> requested;

  int64_t free(NodeIndex node) const { return allocatable[node] - requested[node]; }
};

// All nodes for one scheduling cycle, stored as columns indexed by node. Plugins read the few
// values that they need for all nodes from contiguous memory.
//
// The cache updates it between cycles, only for changed nodes. A node's generation is that of its
// NodeInfo. The epoch changes with everything that affects all nodes: added and removed nodes,
// images, label ids. A result for one node is valid while its generation and the epoch are
// unchanged.
//
// Threads: used by the scheduling thread only. Methods that assign ids (LabelColumnOf, ...) are
//   const, because they do not change node data.
class Snapshot {
 public:
  using TaintSet = uint32_t;

  // Schedulable nodes, interleaved by zone: the first node of each zone, then the second of each,
  // ...
  std::span<const NodeIndex> order() const { return order_; }
  size_t num_nodes() const { return order_.size(); }
  size_t capacity() const { return nodes_.size(); }  // upper bound of the indexes
  uint64_t epoch() const { return epoch_; }
  uint64_t generation(NodeIndex node) const { return generation_[node]; }
  const core::v1::Node& node(NodeIndex node) const { return *nodes_[node]; }
  const std::string& name(NodeIndex node) const { return nodes_[node]->metadata.name; }
  // Returns -1 if there is no such node.
  int64_t Find(const std::string& name) const;

  bool unschedulable(NodeIndex node) const { return unschedulable_[node] != 0; }
  // Nodes with equal taints have the same set. Sets are numbered from 0; numbers never change.
  TaintSet taint_set(NodeIndex node) const { return taint_set_[node]; }
  const List<core::v1::Taint>& taints(TaintSet set) const { return taint_sets_[set]; }
  size_t num_taint_sets() const { return taint_sets_.size(); }

  const ResourceColumn& cpu() const { return cpu_; }
  const ResourceColumn& memory() const { return memory_; }
  const ResourceColumn& ephemeral_storage() const { return ephemeral_storage_; }
  const ResourceColumn& pods() const { return pods_; }
  // An extended resource; all zeros if no node has it. The reference stays valid.
  const ResourceColumn& extended(const std::string& name) const;
  // Requests with defaults, for scoring.
  int64_t score_milli_cpu(NodeIndex node) const { return score_milli_cpu_[node]; }
  int64_t score_memory(NodeIndex node) const { return score_memory_[node]; }

  const std::vector<HostPort>& ports(NodeIndex node) const { return ports_[node]; }
  // The reference is valid within one epoch.
  LabelColumn& LabelColumnOf(std::string_view key) const { return labels_.Column(key, nodes_); }
  const Images& images() const { return images_; }

  // Called by the cache. Set with a NodeInfo without node removes the node. Finish() follows the
  // last Set.
  void Set(NodeIndex node, const NodeInfo& info);
  void Finish();

 private:
  void Grow(size_t size);
  void SetObject(NodeIndex node, const std::shared_ptr<const core::v1::Node>& object);
  void Unname(const std::string& name, NodeIndex node);
  void SetResources(NodeIndex node, const NodeInfo& info);
  TaintSet Intern(const List<core::v1::Taint>& taints);
  void Reorder();

  uint64_t epoch_ = 1;
  bool reorder_ = false;
  std::vector<NodeIndex> order_;
  std::unordered_map<std::string, NodeIndex> by_name_;

  // Columns.
  std::vector<std::shared_ptr<const core::v1::Node>> nodes_;
  std::vector<uint64_t> generation_;
  std::vector<uint8_t> unschedulable_;
  std::vector<TaintSet> taint_set_;
  ResourceColumn cpu_, memory_, ephemeral_storage_, pods_;
  mutable std::map<std::string, ResourceColumn> extended_;
  std::vector<int64_t> score_milli_cpu_;
  std::vector<int64_t> score_memory_;
  std::vector<std::vector<HostPort>> ports_;
  mutable LabelColumns labels_;
  Images images_;

  std::vector<List<core::v1::Taint>> taint_sets_;
  std::unordered_map<std::string, TaintSet> taint_set_ids_;
};

// Region and zone from the node's labels; empty without them.
std::string ZoneOf(const core::v1::Node& node);

}  // namespace cox::scheduler
