// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// The nodes that can access a volume. Pure functions.
namespace cox::apiserver {

FieldErrorList ValidateVolumeNodeAffinity(const core::v1::VolumeNodeAffinity& affinity,
                                          const FieldPath& path);
// Node affinity is immutable, except that deprecated beta labels may be replaced by their
// successors. `affinity` may be null.
FieldErrorList ValidateVolumeNodeAffinityUpdate(const core::v1::VolumeNodeAffinity* affinity,
                                                const core::v1::VolumeNodeAffinity& old,
                                                const FieldPath& path);
// Warnings about deprecated node labels.
std::vector<std::string> WarningsForNodeSelector(const core::v1::NodeSelector& selector,
                                                 const FieldPath& path);
// `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`; empty for other labels.
std::string_view DeprecatedNodeLabel(std::string_view label);

}  // namespace cox::apiserver
