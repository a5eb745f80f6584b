// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"

// What a LimitRange says about Pods and claims for storage. Pure functions of the objects.
namespace cox::apiserver::limit_ranger {

inline constexpr std::string_view kAnnotation = "kubernetes.io/limit-ranger";

// Gives the containers and init containers of a new Pod the requests and limits that they do not
// name and that the range has a default for. What was given is told in an annotation of the Pod.
void GiveDefaults(const core::v1::LimitRange& range, core::v1::Pod& pod);

// How the Pod or claim leaves the range, in upstream's words; empty: it does not.
using Complaints = std::vector<std::string>;
Complaints CheckPod(const core::v1::LimitRange& range, const core::v1::Pod& pod);
Complaints CheckClaim(const core::v1::LimitRange& range,
                      const core::v1::PersistentVolumeClaim& claim);

// One text for all: "a" or "[a, b]", repeated texts once.
std::string Together(const Complaints& complaints);

}  // namespace cox::apiserver::limit_ranger
