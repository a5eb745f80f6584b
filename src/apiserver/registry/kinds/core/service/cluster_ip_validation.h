// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// Validates changes of the addresses and families of a Service: the secondary one can be added and
// removed, the primary one is immutable, unless the Service was or becomes an ExternalName.
FieldErrorList ValidateClusterIpFieldsUpdate(const core::v1::Service& service,
                                             const core::v1::Service& old);

}  // namespace cox::apiserver
