// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/meta/v1.h"
#include "object/type/kind.h"

// Owner references, for garbage collection and adoption.
namespace cox {

// A controller owner reference to the object of `kind` with `meta`.
meta::v1::OwnerReference ControllerRef(const KindInfo& kind, const meta::v1::ObjectMeta& meta);

// The reference with controller=true, or null. The API allows at most one.
const meta::v1::OwnerReference* GetControllerOf(const meta::v1::ObjectMeta& meta);
// Whether the object with this UID is the controller of `meta`.
bool IsControlledBy(const meta::v1::ObjectMeta& meta, std::string_view owner_uid);

// Adds `owner`, or replaces the reference with the same UID. Returns true if anything changed.
bool SetOwnerReference(meta::v1::ObjectMeta* meta, const meta::v1::OwnerReference& owner);
bool RemoveOwnerReference(meta::v1::ObjectMeta* meta, std::string_view owner_uid);

// Finalizers, which must be removed before the object is deleted. The order is preserved.
bool HasFinalizer(const meta::v1::ObjectMeta& meta, std::string_view finalizer);
bool AddFinalizer(meta::v1::ObjectMeta* meta,
                  std::string_view finalizer);                                 // true if added
bool RemoveFinalizer(meta::v1::ObjectMeta* meta, std::string_view finalizer);  // true if removed

}  // namespace cox
