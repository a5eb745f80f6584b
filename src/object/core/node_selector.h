// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"

// Which nodes are meant by labels and fields. Pure functions.
namespace cox::core_rules {

// Whether a label or field of this value (null: there is none) satisfies the requirement.
bool Holds(const core::v1::NodeSelectorRequirement& requirement, const std::string* value);

// Whether all hold for the node's fields. There is one: metadata.name.
bool FieldsMatch(const List<core::v1::NodeSelectorRequirement>& fields, const core::v1::Node& node);

// A term with neither expressions nor fields matches no node.
bool Matches(const core::v1::NodeSelectorTerm& term, const core::v1::Node& node);

// What the Pod requires: its nodeSelector and one term of its required affinity, where it has any.
bool MatchesRequired(const core::v1::Pod& pod, const core::v1::Node& node);

}  // namespace cox::core_rules
