// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "object/type/map.h"

namespace cox::apiserver {

// The labels that differ between `before` and `after` and that a node must not change on itself,
// sorted: labels below node-restriction.kubernetes.io, and labels below kubernetes.io or k8s.io
// that are not kubelet labels. Such labels control scheduling.
std::vector<std::string> ForbiddenLabelChanges(const Map<std::string>& before,
                                               const Map<std::string>& after);

}  // namespace cox::apiserver
