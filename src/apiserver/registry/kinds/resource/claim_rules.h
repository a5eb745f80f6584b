// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "api/resource/v1.h"
#include "apiserver/registry/store/strategy.h"
#include "object/validation/field_error.h"

// What a claim on devices may ask for and be given.
namespace cox::apiserver::devices {

// Names by which other parts of a claim refer to its requests: "gpu", "gpu/large" for the
// alternatives of one.
using RequestNames = std::set<std::string, std::less<>>;
RequestNames RequestNamesOf(const resource::v1::DeviceClaim& claim);

// How many devices a request wants when it does not say.
void SetClaimDefaults(resource::v1::ResourceClaimSpec& spec);

// Of a ResourceClaim, or of the claim in a template.
FieldErrorList ValidateClaimSpec(const resource::v1::ResourceClaimSpec& spec,
                                 const FieldPath& path);
// What the scheduler, drivers and consumers write, compared with what was there.
FieldErrorList ValidateClaimStatus(const resource::v1::ResourceClaim& claim,
                                   const resource::v1::ResourceClaim& old);

Warnings ClaimWarnings(const resource::v1::ResourceClaimSpec& spec, const FieldPath& path);

}  // namespace cox::apiserver::devices
