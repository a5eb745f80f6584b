// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/discovery/v1.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// What is wrong with a new EndpointSlice, apart from its metadata.
FieldErrorList ValidateEndpointSlice(const discovery::v1::EndpointSlice& slice);
// And with one that replaces `old`. Endpoints that did not change are not looked at again.
FieldErrorList ValidateEndpointSliceUpdate(const discovery::v1::EndpointSlice& slice,
                                           const discovery::v1::EndpointSlice& old);

}  // namespace cox::apiserver
