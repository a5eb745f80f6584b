// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"

// Node selectors: matching by labels and fields. Pure functions.
namespace cox::core_rules {

// Whether a label or field with this value (null: it does not exist) satisfies the requirement.
bool Holds(const core::v1::NodeSelectorRequirement& requirement, const std::string* value);

// Whether the node's fields satisfy all requirements. The only field is metadata.name.
bool FieldsMatch(const List<core::v1::NodeSelectorRequirement>& fields, const core::v1::Node& node);

// A term with neither expressions nor fields matches no node.
bool Matches(const core::v1::NodeSelectorTerm& term, const core::v1::Node& node);

// Whether the node satisfies the Pod's nodeSelector and, if present, one term of its required node
// affinity.
bool MatchesRequired(const core::v1::Pod& pod, const core::v1::Node& node);

}  // namespace cox::core_rules
