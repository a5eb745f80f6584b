// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// From which nodes a volume can be reached. Pure functions.
namespace cox::apiserver {

FieldErrorList ValidateVolumeNodeAffinity(const core::v1::VolumeNodeAffinity& affinity,
                                          const FieldPath& path);
// Once set it stays, but for labels that were renamed: a beta label may become the one that
// replaced it. `affinity` may be null.
FieldErrorList ValidateVolumeNodeAffinityUpdate(const core::v1::VolumeNodeAffinity* affinity,
                                                const core::v1::VolumeNodeAffinity& old,
                                                const FieldPath& path);
// Labels of nodes that go by another name now.
std::vector<std::string> WarningsForNodeSelector(const core::v1::NodeSelector& selector,
                                                 const FieldPath& path);
// `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`; empty for other labels.
std::string_view DeprecatedNodeLabel(std::string_view label);

}  // namespace cox::apiserver
