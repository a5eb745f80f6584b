// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// What may change about the addresses and families of a Service: a second one may come and go, the
// first stays as long as the Service does, unless it was or becomes an ExternalName.
FieldErrorList ValidateClusterIpFieldsUpdate(const core::v1::Service& service,
                                             const core::v1::Service& old);

}  // namespace cox::apiserver
