// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/core/v1.h"
#include "scheduler/cache/node_info.h"

namespace cox::scheduler {

// The values of one label on all nodes, as ids; 0: the node does not have the label.
class LabelColumn {
 public:
  static constexpr uint32_t kAbsent = 0;

  uint32_t at(NodeIndex node) const { return node < values_.size() ? values_[node] : kAbsent; }
  // Returns the id of a value, a new one if no node has it. Ids never change.
  uint32_t Id(std::string_view value);
  const std::string& Text(uint32_t id) const { return texts_[id - 1]; }

  void Set(NodeIndex node, uint32_t id);

 private:
  std::vector<uint32_t> values_;
  std::deque<std::string> texts_;  // by id - 1; addresses are stable
  std::unordered_map<std::string_view, uint32_t> ids_;
};

// Columns of the labels that Pods select by, created on first use: nodes have dozens of labels, of
// which only a few are used.
//
// Threads: used by the scheduling thread only.
class LabelColumns {
 public:
  // Nodes by index, null for unused indexes; used to fill a new column.
  using Nodes = std::vector<std::shared_ptr<const core::v1::Node>>;

  // References to columns are valid until Clear().
  LabelColumn& Column(std::string_view key, const Nodes& nodes);
  void Set(NodeIndex node, const core::v1::Node* object);  // null: the node is removed
  size_t size() const { return columns_.size(); }
  void Clear() { columns_.clear(); }

 private:
  std::unordered_map<std::string, std::unique_ptr<LabelColumn>> columns_;
};

}  // namespace cox::scheduler
