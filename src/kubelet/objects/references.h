// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "api/core/v1.h"
#include "coxswain/object_key.h"

namespace cox::kubelet {

// An object that a Pod references, in the Pod's namespace.
struct ObjectReference {
  enum class Kind : uint8_t { kConfigMap, kSecret };
  Kind kind = Kind::kConfigMap;
  ObjectKey key;

  auto operator<=>(const ObjectReference&) const = default;
};

// All references of the Pod: in environments, volumes and imagePullSecrets. Pure.
std::set<ObjectReference> ReferencesOf(const core::v1::Pod& pod);

}  // namespace cox::kubelet
