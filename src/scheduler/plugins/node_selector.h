// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "api/core/v1.h"
#include "scheduler/cache/snapshot.h"

namespace cox::scheduler {

// A term of object/core/node_selector.h, compiled for the columns of a snapshot: each requirement
// is evaluated once per distinct label value and then looked up. Valid for the epoch of its
// creation.
class CompiledTerm {
 public:
  CompiledTerm(const core::v1::NodeSelectorTerm& term, const Snapshot& nodes);

  bool Matches(const Snapshot& nodes, NodeIndex node) const;

 private:
  struct Expression {
    core::v1::NodeSelectorRequirement requirement;
    const LabelColumn* column;
    mutable std::vector<int8_t> holds;  // by value id; -1: not evaluated yet

    bool HoldsAt(NodeIndex node) const;
  };
  std::vector<Expression> expressions_;
  List<core::v1::NodeSelectorRequirement> fields_;
};

}  // namespace cox::scheduler
