// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "api/autoscaling/v1.h"
#include "apiserver/registry/store/table.h"
#include "object/object.h"
#include "object/validation/field_error.h"

// autoscaling/v1 Scale: the replicas of a Deployment, ReplicaSet, StatefulSet or
// ReplicationController as an object that is the same for all kinds. Autoscalers and `kubectl
// scale` use it for any kind.
//
// Pure functions. `object` is always of the hub version.
namespace cox::apiserver {

// Whether `object` is of a scalable kind, as the other functions require.
bool HasScale(const Object& object);

// The Scale of the object: name, namespace, uid, resourceVersion and creation time, the desired
// replicas, and from the status the actual replicas and the selector as text.
// REQUIRES: HasScale(object)
autoscaling::v1::Scale ToScale(const Object& object);

// Validates a Scale from a client, except for its metadata.
FieldErrorList ValidateScale(const autoscaling::v1::Scale& scale);

// Sets the desired replicas of `object` and its resourceVersion from `scale`. An empty
// resourceVersion makes the update unconditional.
// REQUIRES: HasScale(*object)
void FromScale(const autoscaling::v1::Scale& scale, Object* object);

// A Scale as a table.
std::span<const Column> ScaleColumns();
Cells ScaleRow(const autoscaling::v1::Scale& scale, const Time& now);

}  // namespace cox::apiserver
