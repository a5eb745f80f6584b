// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "apiserver/admission/admission.h"

namespace cox::apiserver {

// Whether the request creates or updates an object.
inline bool IsWrite(const AdmissionRequest& request) {
  return request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
}

// The Pod of a request that creates or updates one, except its subresources, or null.
inline core::v1::Pod* CreatedOrUpdatedPod(const AdmissionRequest& request, Object& object) {
  if (!IsWrite(request) || !request.subresource.empty()) return nullptr;
  return object.As<core::v1::Pod>();
}

}  // namespace cox::apiserver
