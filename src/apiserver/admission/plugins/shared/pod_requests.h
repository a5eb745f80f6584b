// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "apiserver/admission/admission.h"

namespace cox::apiserver {

// Whether the request creates or updates an object.
inline bool IsWrite(const AdmissionRequest& request) {
  return request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
}

// The Pod of a request that creates one, or null.
inline core::v1::Pod* CreatedPod(const AdmissionRequest& request, Object& object) {
  if (request.operation != Operation::kCreate || !request.subresource.empty()) return nullptr;
  return object.As<core::v1::Pod>();
}

}  // namespace cox::apiserver
