// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/resource/v1.h"
#include "object/validation/field_error.h"

namespace cox::apiserver::devices {

// Validates the devices of a pool that a driver publishes.
FieldErrorList ValidateSliceSpec(const resource::v1::ResourceSliceSpec& spec,
                                 const FieldPath& path);

}  // namespace cox::apiserver::devices
