// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// A pod template as field errors contain it: upstream's internal type of its spec
// (core/pod/validation/internal_form.h) on one line, next to the members of its metadata.
FieldValue PodTemplateValue(const core::v1::PodTemplateSpec& pod_template);

}  // namespace cox::apiserver
