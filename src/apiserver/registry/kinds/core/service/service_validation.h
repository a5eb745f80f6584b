// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// Validation of Services and of their updates. Pure functions.
namespace cox::apiserver {

// Validates clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy, and their consistency. Allocation
// calls this first. `old` may be null: values that it already has are not validated again.
FieldErrorList ValidateClusterIpFields(const core::v1::Service& service,
                                       const core::v1::Service* old);

// Validates all fields. REQUIRES: addresses and ports are allocated.
FieldErrorList ValidateService(const core::v1::Service& service, const core::v1::Service* old);
FieldErrorList ValidateServiceUpdate(const core::v1::Service& service,
                                     const core::v1::Service& old);
FieldErrorList ValidateServiceStatus(const core::v1::Service& service,
                                     const core::v1::Service& old);

std::vector<std::string> WarningsForService(const core::v1::Service& service);

}  // namespace cox::apiserver
