// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// The rules of whole pods: new ones, and each way of changing one. Metadata is checked elsewhere.
//
// A running pod is a fact on some node, so little of it can change: images, the deadline, added
// tolerations; while gates keep it from being scheduled also where it may run. /ephemeralcontainers
// adds containers, /resize changes cpu and memory, /status belongs to the kubelet.
namespace cox::apiserver {

FieldErrorList ValidatePodCreate(const core::v1::Pod& pod);
FieldErrorList ValidatePodUpdate(const core::v1::Pod& pod, const core::v1::Pod& old);
FieldErrorList ValidatePodEphemeralContainersUpdate(const core::v1::Pod& pod,
                                                    const core::v1::Pod& old);
FieldErrorList ValidatePodResize(const core::v1::Pod& pod, const core::v1::Pod& old);
FieldErrorList ValidatePodStatusUpdate(const core::v1::Pod& pod, const core::v1::Pod& old);

}  // namespace cox::apiserver
