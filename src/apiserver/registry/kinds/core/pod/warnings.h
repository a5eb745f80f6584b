// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {

// What a client that made this pod should be told: parts that do nothing any more, that mean
// something else than they seem to, or that have a newer name. For templates see
// PodTemplateWarnings (pod_validation.h).
Warnings PodWarnings(const core::v1::Pod& pod);

}  // namespace cox::apiserver
