// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "object/type/map.h"

namespace cox::apiserver {

// The labels that differ between `before` and `after` and that a node may not give itself, sorted:
// everything under node-restriction.kubernetes.io, and what is under kubernetes.io or k8s.io
// without being a label of kubelets. Workloads are steered by them.
std::vector<std::string> ForbiddenLabelChanges(const Map<std::string>& before,
                                               const Map<std::string>& after);

}  // namespace cox::apiserver
