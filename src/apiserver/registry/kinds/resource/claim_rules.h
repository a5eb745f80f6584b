// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "api/resource/v1.h"
#include "apiserver/registry/store/strategy.h"
#include "object/validation/field_error.h"

// Validation of ResourceClaims.
namespace cox::apiserver::devices {

// Names by which other parts of a claim refer to its requests: "gpu", or "gpu/large" for a
// subrequest.
using RequestNames = std::set<std::string, std::less<>>;
RequestNames RequestNamesOf(const resource::v1::DeviceClaim& claim);

// Sets the default allocation mode and device count of requests.
void SetClaimDefaults(resource::v1::ResourceClaimSpec& spec);

// Validates the spec of a ResourceClaim, or of the claim in a template.
FieldErrorList ValidateClaimSpec(const resource::v1::ResourceClaimSpec& spec,
                                 const FieldPath& path);
// Validates an update of the status by the scheduler, drivers or consumers.
FieldErrorList ValidateClaimStatus(const resource::v1::ResourceClaim& claim,
                                   const resource::v1::ResourceClaim& old);

Warnings ClaimWarnings(const resource::v1::ResourceClaimSpec& spec, const FieldPath& path);

}  // namespace cox::apiserver::devices
