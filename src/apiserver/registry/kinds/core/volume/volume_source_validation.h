// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// Validation of the sources of a PersistentVolume. Pure functions.
namespace cox::apiserver {

// The name of a CSI driver; upper case is allowed.
FieldErrorList ValidateCsiDriverName(std::string_view name, const FieldPath& path);

// Validates the source of the volume. `path` is that of the spec, of which sources are fields.
// Exactly one source must be set.
FieldErrorList ValidateVolumeSource(const core::v1::PersistentVolumeSource& source,
                                    const FieldPath& path);

}  // namespace cox::apiserver
