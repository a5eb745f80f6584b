// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "api/autoscaling/v1.h"
#include "apiserver/registry/store/table.h"
#include "object/object.h"
#include "object/validation/field_error.h"

// autoscaling/v1 Scale: the number of pods of a Deployment, ReplicaSet, StatefulSet or
// ReplicationController as a small object of its own, the same for all of them. Autoscalers and
// `kubectl scale` work on it without knowing the kind.
//
// Pure functions. `object` is always in its hub form.
namespace cox::apiserver {

// Whether `object` is of a kind that can be scaled: the others are for such objects only.
bool HasScale(const Object& object);

// The object's Scale: its name, namespace, uid, resourceVersion and creation time, the wanted
// number, and from the status the actual number and the selector of the pods as text.
// REQUIRES: HasScale(object)
autoscaling::v1::Scale ToScale(const Object& object);

// What is wrong with a Scale that a client wrote. Metadata is not looked at.
FieldErrorList ValidateScale(const autoscaling::v1::Scale& scale);

// Sets the number of pods that `object` wants to what `scale` says, and the resourceVersion to the
// one the writer has seen: none lets the update win over whatever was written before.
// REQUIRES: HasScale(*object)
void FromScale(const autoscaling::v1::Scale& scale, Object* object);

// A Scale as a table.
std::span<const Column> ScaleColumns();
Cells ScaleRow(const autoscaling::v1::Scale& scale, const Time& now);

}  // namespace cox::apiserver
