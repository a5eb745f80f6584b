// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/autoscaling/v2.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// The spec of a HorizontalPodAutoscaler. `old` is what is stored, null for a new object: references
// that it holds already, and a lower bound of zero replicas, are not judged again.
FieldErrorList ValidateHorizontalPodAutoscalerSpec(
    const autoscaling::v2::HorizontalPodAutoscalerSpec& spec,
    const autoscaling::v2::HorizontalPodAutoscalerSpec* old);

}  // namespace cox::apiserver
