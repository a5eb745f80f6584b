// SPDX-License-Identifier: Apache-2.0
#include "scheduler/plugins/node_selector.h"

#include <algorithm>

#include "object/core/node_selector.h"

namespace cox::scheduler {

using core::v1::NodeSelectorRequirement;
using core::v1::NodeSelectorTerm;

CompiledTerm::CompiledTerm(const NodeSelectorTerm& term, const Snapshot& nodes)
    : fields_(term.matchFields) {
  for (const NodeSelectorRequirement& requirement : term.matchExpressions) {
    expressions_.push_back(
        {.requirement = requirement, .column = &nodes.LabelColumnOf(requirement.key), .holds = {}});
  }
}

bool CompiledTerm::Matches(const Snapshot& nodes, NodeIndex node) const {
  if (expressions_.empty() && fields_.empty()) return false;
  return std::all_of(expressions_.begin(), expressions_.end(),
                     [node](const Expression& e) { return e.HoldsAt(node); }) &&
         (fields_.empty() || core_rules::FieldsMatch(fields_, nodes.node(node)));
}

bool CompiledTerm::Expression::HoldsAt(NodeIndex node) const {
  const uint32_t id = column->at(node);
  if (id >= holds.size()) holds.resize(id + 1, -1);
  if (holds[id] < 0) {
    const std::string* value = id == LabelColumn::kAbsent ? nullptr : &column->Text(id);
    holds[id] = core_rules::Holds(requirement, value) ? 1 : 0;
  }
  return holds[id] == 1;
}

}  // namespace cox::scheduler
