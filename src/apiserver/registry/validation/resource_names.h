// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "object/scalar/quantity.h"
#include "object/validation/field_error.h"

// Names of resources ("cpu", "requests.storage", "count/jobs.batch", "vendor.example/gpu") as
// limits, quotas and nodes use them, and what amounts they take.
namespace cox::apiserver {

// Names without a prefix are native and come from fixed lists; others belong to whoever owns the
// prefix.
bool IsNativeResource(std::string_view name);
bool IsExtendedResourceName(std::string_view name);
bool IsHugePageResourceName(std::string_view name);
// What quotas count and add up.
bool IsStandardQuotaResourceName(std::string_view name);
// Counted things: fractions make no sense.
bool IsIntegerResourceName(std::string_view name);
// What may be promised more often than it is there; hugepages and extended resources may not.
bool IsOvercommitAllowed(std::string_view name);

FieldErrorList ValidateResourceName(std::string_view name, const FieldPath& path);
FieldErrorList ValidateContainerResourceName(std::string_view name, const FieldPath& path);
FieldErrorList ValidateQuotaResourceName(std::string_view name, const FieldPath& path);
// Not negative, and whole where the resource is counted.
FieldErrorList ValidateResourceQuantityValue(std::string_view name, const Quantity& value,
                                             const FieldPath& path);

}  // namespace cox::apiserver
