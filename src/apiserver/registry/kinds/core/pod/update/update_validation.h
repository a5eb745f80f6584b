// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// Validation of pods: on create, and for each kind of update. Metadata is validated elsewhere.
//
// Little of a running pod can change: images, the deadline, added tolerations; while it has
// scheduling gates, also node selector and affinity. /ephemeralcontainers adds containers, /resize
// changes cpu and memory, /status is for the kubelet.
namespace cox::apiserver {

FieldErrorList ValidatePodCreate(const core::v1::Pod& pod);
FieldErrorList ValidatePodUpdate(const core::v1::Pod& pod, const core::v1::Pod& old);
FieldErrorList ValidatePodEphemeralContainersUpdate(const core::v1::Pod& pod,
                                                    const core::v1::Pod& old);
FieldErrorList ValidatePodResize(const core::v1::Pod& pod, const core::v1::Pod& old);
FieldErrorList ValidatePodStatusUpdate(const core::v1::Pod& pod, const core::v1::Pod& old);

}  // namespace cox::apiserver
