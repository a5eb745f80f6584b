// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// Validation of PersistentVolumeClaims and of their updates. Pure functions.
namespace cox::apiserver {

FieldErrorList ValidateClaimSpec(const core::v1::PersistentVolumeClaimSpec& spec,
                                 const FieldPath& path);
FieldErrorList ValidateClaimUpdate(const core::v1::PersistentVolumeClaim& claim,
                                   const core::v1::PersistentVolumeClaim& old);
FieldErrorList ValidateClaimStatusUpdate(const core::v1::PersistentVolumeClaim& claim);
std::vector<std::string> WarningsForClaim(const core::v1::PersistentVolumeClaim& claim);

// Makes dataSource and dataSourceRef consistent: drops sources that dataSource does not support
// (silently, as before dataSourceRef existed), then copies each to the other if that one is empty.
// `old` is null for a new claim.
void NormalizeDataSources(core::v1::PersistentVolumeClaimSpec& spec,
                          const core::v1::PersistentVolumeClaimSpec* old);

}  // namespace cox::apiserver
