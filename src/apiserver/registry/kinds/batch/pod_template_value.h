// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// A pod template as a field error quotes it: the internal form of its spec
// (core/pod/internal_form.h) on one line, beside the members of its metadata.
FieldValue PodTemplateValue(const core::v1::PodTemplateSpec& pod_template);

}  // namespace cox::apiserver
