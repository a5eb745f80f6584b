// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/discovery/v1.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// Validates a new EndpointSlice, except for its metadata.
FieldErrorList ValidateEndpointSlice(const discovery::v1::EndpointSlice& slice);
// Validates an EndpointSlice that replaces `old`. Unchanged endpoints are not validated again.
FieldErrorList ValidateEndpointSliceUpdate(const discovery::v1::EndpointSlice& slice,
                                           const discovery::v1::EndpointSlice& old);

}  // namespace cox::apiserver
