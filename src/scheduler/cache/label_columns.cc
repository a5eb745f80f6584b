// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/label_columns.h"

namespace cox::scheduler {

uint32_t LabelColumn::Id(std::string_view value) {
  const auto found = ids_.find(value);
  if (found != ids_.end()) return found->second;
  texts_.emplace_back(value);
  const auto id = static_cast<uint32_t>(texts_.size());
  ids_.emplace(texts_.back(), id);
  return id;
}

void LabelColumn::Set(NodeIndex node, uint32_t id) {
  if (node >= values_.size()) {
    if (id == kAbsent) return;
    values_.resize(node + 1, kAbsent);
  }
  values_[node] = id;
}

LabelColumn& LabelColumns::Column(std::string_view key, const Nodes& nodes) {
  std::unique_ptr<LabelColumn>& column = columns_[std::string(key)];
  if (column != nullptr) return *column;
  column = std::make_unique<LabelColumn>();
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    if (nodes[i] == nullptr) continue;
    if (const std::string* value = nodes[i]->metadata.labels.Get(key)) {
      column->Set(i, column->Id(*value));
    }
  }
  return *column;
}

void LabelColumns::Set(NodeIndex node, const core::v1::Node* object) {
  for (auto& [key, column] : columns_) {
    const std::string* value = object == nullptr ? nullptr : object->metadata.labels.Get(key);
    column->Set(node, value == nullptr ? LabelColumn::kAbsent : column->Id(*value));
  }
}

}  // namespace cox::scheduler
