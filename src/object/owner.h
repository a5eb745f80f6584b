// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/meta/v1.h"
#include "object/type/kind.h"

// Owner references: which object an object belongs to, for garbage collection and adoption.
namespace cox {

// A reference to an object of `kind` with `meta` that makes it the controller of whoever carries
// it.
meta::v1::OwnerReference ControllerRef(const KindInfo& kind, const meta::v1::ObjectMeta& meta);

// The reference with controller=true, or null. The API allows at most one.
const meta::v1::OwnerReference* GetControllerOf(const meta::v1::ObjectMeta& meta);
// Whether `meta` is controlled by the object with this uid.
bool IsControlledBy(const meta::v1::ObjectMeta& meta, std::string_view owner_uid);

// Adds `owner`, or replaces the reference to the same uid. True if that changed anything.
bool SetOwnerReference(meta::v1::ObjectMeta* meta, const meta::v1::OwnerReference& owner);
bool RemoveOwnerReference(meta::v1::ObjectMeta* meta, std::string_view owner_uid);

// Finalizers: what must still happen before the object may go. All keep the order.
bool HasFinalizer(const meta::v1::ObjectMeta& meta, std::string_view finalizer);
bool AddFinalizer(meta::v1::ObjectMeta* meta,
                  std::string_view finalizer);  // true if it was not there
bool RemoveFinalizer(meta::v1::ObjectMeta* meta, std::string_view finalizer);  // true if it was

}  // namespace cox
