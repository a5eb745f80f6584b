// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"

// Evaluation of LimitRanges for Pods and PersistentVolumeClaims. Pure functions.
namespace cox::apiserver::limit_ranger {

inline constexpr std::string_view kAnnotation = "kubernetes.io/limit-ranger";

// Sets the default requests and limits of the range in the containers and init containers of a new
// Pod that do not specify them. Records the changes in an annotation of the Pod.
void ApplyDefaults(const core::v1::LimitRange& range, core::v1::Pod& pod);

// The violations of the range, with upstream's texts; empty if there are none.
using Violations = std::vector<std::string>;
Violations CheckPod(const core::v1::LimitRange& range, const core::v1::Pod& pod);
Violations CheckClaim(const core::v1::LimitRange& range,
                      const core::v1::PersistentVolumeClaim& claim);

// Joins the texts: "a" or "[a, b]", without duplicates.
std::string JoinViolations(const Violations& violations);

}  // namespace cox::apiserver::limit_ranger
