// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "object/type/value.h"

namespace cox::apiserver::openapi {

// A v2 document as the protobuf message that kubectl and Helm ask for (openapi.v2.Document of
// gnostic). Covers what V2Document and the schemas of custom resources can hold; members that the
// message has no place for are left out.
std::string V2Protobuf(const Value& document);

}  // namespace cox::apiserver::openapi
