// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "object/type/value.h"

namespace cox::apiserver::openapi {

// Encodes a v2 document as the protobuf message that kubectl and Helm request (openapi.v2.Document
// of gnostic). Supports what V2Document and the schemas of custom resources can contain; members
// that have no field in the message are omitted.
std::string V2Protobuf(const Value& document);

}  // namespace cox::apiserver::openapi
