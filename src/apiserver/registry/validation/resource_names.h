// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "object/scalar/quantity.h"
#include "object/validation/field_error.h"

// Names of resources ("cpu", "requests.storage", "count/jobs.batch", "vendor.example/gpu") in
// limits, quotas and nodes, and the quantities that are valid for them.
namespace cox::apiserver {

// Names without a prefix are native and come from fixed lists; other names are extended resources.
bool IsNativeResource(std::string_view name);
bool IsExtendedResourceName(std::string_view name);
bool IsHugePageResourceName(std::string_view name);
// Resources that quotas limit.
bool IsStandardQuotaResourceName(std::string_view name);
// Resources that are counted, so that fractions are invalid.
bool IsIntegerResourceName(std::string_view name);
// Resources whose limits may exceed requests; not hugepages and extended resources.
bool IsOvercommitAllowed(std::string_view name);

FieldErrorList ValidateResourceName(std::string_view name, const FieldPath& path);
FieldErrorList ValidateContainerResourceName(std::string_view name, const FieldPath& path);
FieldErrorList ValidateQuotaResourceName(std::string_view name, const FieldPath& path);
// The quantity must not be negative, and must be an integer for counted resources.
FieldErrorList ValidateResourceQuantityValue(std::string_view name, const Quantity& value,
                                             const FieldPath& path);

}  // namespace cox::apiserver
