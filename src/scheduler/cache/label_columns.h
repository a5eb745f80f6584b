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

// The values of one label over all nodes, as numbers: 0 is "the node has no such label".
class LabelColumn {
 public:
  static constexpr uint32_t kAbsent = 0;

  uint32_t at(NodeIndex node) const { return node < values_.size() ? values_[node] : kAbsent; }
  // The number of a value; a new one where no node has it. Numbers stay.
  uint32_t Id(std::string_view value);
  const std::string& Text(uint32_t id) const { return texts_[id - 1]; }

  void Set(NodeIndex node, uint32_t id);

 private:
  std::vector<uint32_t> values_;
  std::deque<std::string> texts_;  // by id - 1; does not move
  std::unordered_map<std::string_view, uint32_t> ids_;
};

// Columns of those labels that Pods ask for, made when one first does: nodes have dozens of labels,
// of which a handful decide.
//
// Threads: of the scheduling thread alone.
class LabelColumns {
 public:
  // `nodes`: by index, null where there is none; to fill a new column.
  using Nodes = std::vector<std::shared_ptr<const core::v1::Node>>;

  // Columns stay where they are until Clear().
  LabelColumn& Column(std::string_view key, const Nodes& nodes);
  void Set(NodeIndex node, const core::v1::Node* object);  // null: it is gone
  size_t size() const { return columns_.size(); }
  void Clear() { columns_.clear(); }

 private:
  std::unordered_map<std::string, std::unique_ptr<LabelColumn>> columns_;
};

}  // namespace cox::scheduler
