// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "coxswain/object_key.h"
#include "object/object.h"
#include "object/type/gvk.h"
#include "object/type/kind.h"
#include "object/type/kind_names.h"

namespace cox {

// Identifies a resource type for the client and the cache. A value type.
//
//   Resource::Of<core::v1::Pod>()                           a kind that has a C++ struct
//   Resource::Dynamic({"example.com", "v1", "Backup"}, "backups", true)
//   client.Discover(ctx, {"example.com", "v1", "Backup"})   found through API discovery
//
// Objects of the first form are structs, objects of the others are JSON values (Object::value()).
struct Resource {
  GroupVersionKind gvk;
  std::string plural;  // "pods"
  bool namespaced = false;
  // Null for dynamic resources. Otherwise points to static data.
  const KindInfo* info = nullptr;

  template <class T>
    requires requires { T::kKind; }
  static Resource Of() {
    return FromKind(T::kKind);
  }
  static Resource FromKind(const KindInfo& kind) {
    return {.gvk = GvkOf(kind),
            .plural = std::string(kind.plural),
            .namespaced = kind.namespaced,
            .info = &kind};
  }
  static Resource Dynamic(GroupVersionKind gvk, std::string plural, bool namespaced) {
    return {.gvk = std::move(gvk), .plural = std::move(plural), .namespaced = namespaced};
  }

  GroupVersionResource gvr() const { return {gvk.group, gvk.version, plural}; }
  // "pods", "deployments.apps": the form used in error texts, metrics and etcd keys.
  std::string ToString() const { return gvk.group.empty() ? plural : plural + "." + gvk.group; }

  friend bool operator==(const Resource& a, const Resource& b) {
    return a.gvk == b.gvk && a.plural == b.plural;
  }
};

// Metadata that all kinds share, read without decoding the rest of the object.
struct ObjectHead {
  ObjectKey key;
  std::string uid;
  // resourceVersion as a number (guaranteed by the API since v1.35); 0 if absent. Orders versions
  // of objects of one resource.
  int64_t version = 0;
  int64_t generation = 0;
  bool deleting = false;  // has a deletionTimestamp
};
ObjectHead HeadOf(const Object& object);

// The struct inside a shared object, or the object itself for T = Object. Null if the object is of
// another kind. Shares ownership without a copy.
template <class T>
std::shared_ptr<const T> As(const ObjectPtr& object) {
  if constexpr (std::is_same_v<T, Object>) {
    return object;
  } else {
    const T* inner = object == nullptr ? nullptr : object->As<T>();
    return inner == nullptr ? nullptr : std::shared_ptr<const T>(object, inner);
  }
}

}  // namespace cox
