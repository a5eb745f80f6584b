// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "api/core/v1.h"
#include "coxswain/object_key.h"

namespace cox::kubelet {

// An object that a Pod names, in its own namespace.
struct ObjectReference {
  enum class Kind : uint8_t { kConfigMap, kSecret };
  Kind kind = Kind::kConfigMap;
  ObjectKey key;

  auto operator<=>(const ObjectReference&) const = default;
};

// All that the Pod names: in environments, volumes and as secrets for its images. Pure.
std::set<ObjectReference> ReferencesOf(const core::v1::Pod& pod);

}  // namespace cox::kubelet
