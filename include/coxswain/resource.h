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

// Which kind of objects: all the client and the cache need to know to speak of it. A value.
//
//   Resource::Of<core::v1::Pod>()                           a kind that has a C++ struct
//   Resource::Dynamic({"example.com", "v1", "Backup"}, "backups", true)
//   client.Discover(ctx, {"example.com", "v1", "Backup"})   asks the server for the rest
//
// Objects of the first are structs, of the others JSON values (Object::value()).
struct Resource {
  GroupVersionKind gvk;
  std::string plural;  // "pods"
  bool namespaced = false;
  // Null for dynamic ones; else constant, as long as the program.
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
  // "pods", "deployments.apps": as error texts, metrics and etcd say it.
  std::string ToString() const { return gvk.group.empty() ? plural : plural + "." + gvk.group; }

  friend bool operator==(const Resource& a, const Resource& b) {
    return a.gvk == b.gvk && a.plural == b.plural;
  }
};

// What every kind's metadata says, without decoding more of it. Cheap; for objects of any kind.
struct ObjectHead {
  ObjectKey key;
  std::string uid;
  // resourceVersion as a number, which it is on every server since v1.35; 0 if absent. Versions of
  // one resource are ordered by it.
  int64_t version = 0;
  int64_t generation = 0;
  bool deleting = false;  // has a deletionTimestamp
};
ObjectHead HeadOf(const Object& object);

// The struct inside of a shared object; the object itself for T = Object. Null if it is of another
// kind. Shares ownership: nothing is copied.
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
