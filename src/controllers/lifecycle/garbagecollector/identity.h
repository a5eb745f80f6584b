// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/meta/v1.h"
#include "coxswain/object_key.h"
#include "object/type/gvk.h"

namespace cox::controllers::gc {

// The identity of an object: its uid and its coordinates.
struct Identity {
  GroupVersionKind gvk;
  ObjectKey key;
  std::string uid;

  // "[apps/v1/ReplicaSet, namespace: default, name: web-1, uid: ...]", the format in events.
  std::string ToString() const {
    return "[" + gvk.group_version().ToString() + "/" + gvk.kind + ", namespace: " + key.ns +
           ", name: " + key.name + ", uid: " + uid + "]";
  }
  bool operator==(const Identity&) const = default;
};

}  // namespace cox::controllers::gc
