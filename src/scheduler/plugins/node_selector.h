// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "api/core/v1.h"
#include "scheduler/cache/snapshot.h"

namespace cox::scheduler {

// A term of object/core/node_selector.h over the columns of a snapshot: each requirement is judged
// once for each value that the label has, and looked up after that. Good for the epoch it was made
// in.
class CompiledTerm {
 public:
  CompiledTerm(const core::v1::NodeSelectorTerm& term, const Snapshot& nodes);

  bool Matches(const Snapshot& nodes, NodeIndex node) const;

 private:
  struct Expression {
    core::v1::NodeSelectorRequirement requirement;
    const LabelColumn* column;
    mutable std::vector<int8_t> holds;  // by the value's number; -1: not judged yet

    bool HoldsAt(NodeIndex node) const;
  };
  std::vector<Expression> expressions_;
  List<core::v1::NodeSelectorRequirement> fields_;
};

}  // namespace cox::scheduler
