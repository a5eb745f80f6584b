// SPDX-License-Identifier: Apache-2.0
#include "object/core/node_selector.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cox::core_rules {

using core::v1::Node;
using core::v1::NodeSelectorRequirement;
using core::v1::NodeSelectorTerm;

namespace {

std::optional<int64_t> Number(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool Holds(const NodeSelectorRequirement& requirement, const std::string* value) {
  const std::string& op = requirement.operator_;
  const auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), *value) !=
           requirement.values.end();
  };
  if (op == core::v1::kNodeSelectorOpIn) return value != nullptr && listed();
  if (op == core::v1::kNodeSelectorOpNotIn) return value == nullptr || !listed();
  if (op == core::v1::kNodeSelectorOpExists) return value != nullptr;
  if (op == core::v1::kNodeSelectorOpDoesNotExist) return value == nullptr;
  const bool greater = op == core::v1::kNodeSelectorOpGt;
  if ((!greater && op != core::v1::kNodeSelectorOpLt) || value == nullptr ||
      requirement.values.size() != 1) {
    return false;
  }
  const std::optional<int64_t> has = Number(*value);
  const std::optional<int64_t> bound = Number(requirement.values.front());
  if (!has || !bound) return false;
  return greater ? *has > *bound : *has < *bound;
}

bool FieldsMatch(const List<NodeSelectorRequirement>& fields, const Node& node) {
  return std::all_of(fields.begin(), fields.end(), [&](const NodeSelectorRequirement& field) {
    return Holds(field, field.key == "metadata.name" ? &node.metadata.name : nullptr);
  });
}

bool Matches(const NodeSelectorTerm& term, const Node& node) {
  if (term.matchExpressions.empty() && term.matchFields.empty()) return false;
  const auto& labels = node.metadata.labels;
  return std::all_of(
             term.matchExpressions.begin(), term.matchExpressions.end(),
             [&](const NodeSelectorRequirement& r) { return Holds(r, labels.Get(r.key)); }) &&
         FieldsMatch(term.matchFields, node);
}

bool MatchesRequired(const core::v1::Pod& pod, const Node& node) {
  for (const auto& [key, wanted] : pod.spec.nodeSelector) {
    const std::string* value = node.metadata.labels.Get(key);
    if (value == nullptr || *value != wanted) return false;
  }
  if (!pod.spec.affinity || !pod.spec.affinity->nodeAffinity) return true;
  const auto& required =
      pod.spec.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
  if (!required) return true;
  return std::any_of(required->nodeSelectorTerms.begin(), required->nodeSelectorTerms.end(),
                     [&](const NodeSelectorTerm& term) { return Matches(term, node); });
}

}  // namespace cox::core_rules
