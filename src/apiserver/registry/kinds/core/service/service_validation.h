// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// What Services may hold and what may change. Pure functions.
namespace cox::apiserver {

// clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy, and how they belong together. Allocation
// asks this first, so that it meets only what makes sense. `old` may be null: values that it has
// already are not checked again.
FieldErrorList ValidateClusterIpFields(const core::v1::Service& service,
                                       const core::v1::Service* old);

// Everything. REQUIRES: what is allocated has been allocated.
FieldErrorList ValidateService(const core::v1::Service& service, const core::v1::Service* old);
FieldErrorList ValidateServiceUpdate(const core::v1::Service& service,
                                     const core::v1::Service& old);
FieldErrorList ValidateServiceStatus(const core::v1::Service& service,
                                     const core::v1::Service& old);

std::vector<std::string> WarningsForService(const core::v1::Service& service);

}  // namespace cox::apiserver
