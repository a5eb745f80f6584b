// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/autoscaling/v2.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// Validates the spec of a HorizontalPodAutoscaler. `old` is the stored spec, null for a new object:
// an unchanged reference or minReplicas of 0 in it is not validated again.
FieldErrorList ValidateHorizontalPodAutoscalerSpec(
    const autoscaling::v2::HorizontalPodAutoscalerSpec& spec,
    const autoscaling::v2::HorizontalPodAutoscalerSpec* old);

}  // namespace cox::apiserver
