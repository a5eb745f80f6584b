// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// What a PersistentVolume may point to. Pure functions.
namespace cox::apiserver {

// The name a CSI driver registers under; capitals are let through.
FieldErrorList ValidateCsiDriverName(std::string_view name, const FieldPath& path);

// The one source of the volume, at `path` (the spec, of which sources are fields). More than one,
// or none, is an error.
FieldErrorList ValidateVolumeSource(const core::v1::PersistentVolumeSource& source,
                                    const FieldPath& path);

}  // namespace cox::apiserver
