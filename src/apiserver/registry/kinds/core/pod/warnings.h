// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {

// Warnings about fields that are without effect, misleading or deprecated. For templates see
// PodTemplateWarnings (pod_validation.h).
Warnings PodWarnings(const core::v1::Pod& pod);

}  // namespace cox::apiserver
