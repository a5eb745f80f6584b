// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coxswain/lister.h"
#include "object/owner.h"
#include "object/type/kind_names.h"

// Lookups between owners and their dependents.
namespace cox::controllers::pods {

// Indexes objects by their namespace and the uid of their controller; objects without one by their
// namespace. An owner reference to an object of another namespace is invalid: without the namespace
// in the index, users of one namespace could change how many Pods a controller counts in another.
//
//   Index<Pod, ByController<Pod>> owned = cache.IndexOf<Pod, ByController<Pod>>();
//   owned.Find(ControlledBy(replica_set.metadata));   owned.Find(OrphansOf("default"));
inline std::string OrphansOf(std::string_view ns) { return "orphans of " + std::string(ns); }
inline std::string ControlledBy(std::string_view ns, std::string_view uid) {
  return std::string(ns).append("/").append(uid);
}
inline std::string ControlledBy(const meta::v1::ObjectMeta& owner) {
  return ControlledBy(owner.namespace_, owner.uid);
}

template <class T>
struct ByController {
  static constexpr std::string_view kName = "controller";
  static std::string Of(const T& object) {
    const meta::v1::OwnerReference* controller = GetControllerOf(object.metadata);
    const std::string& ns = object.metadata.namespace_;
    return controller != nullptr ? ControlledBy(ns, controller->uid) : OrphansOf(ns);
  }
};

// Returns the objects that `owner` controls or might adopt.
template <class T, class Owner>
std::vector<std::shared_ptr<const T>> OwnedOrOrphaned(const Index<T, ByController<T>>& index,
                                                      const Owner& owner) {
  auto objects = index.Find(ControlledBy(owner.metadata));
  auto orphans = index.Find(OrphansOf(owner.metadata.namespace_));
  objects.insert(objects.end(), orphans.begin(), orphans.end());
  return objects;
}

// Returns the key of the object's controller if it is of `kind`; otherwise an empty name.
inline ObjectKey ControllerKey(const meta::v1::ObjectMeta& meta, const KindInfo& kind) {
  const meta::v1::OwnerReference* controller = GetControllerOf(meta);
  if (controller == nullptr || controller->kind != kind.kind) return {};
  const std::string_view api_version = controller->apiVersion;
  const size_t slash = api_version.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  if (group != kind.group) return {};
  return {kind.namespaced ? meta.namespace_ : "", controller->name};
}

// For ControllerBuilder::Watches: returns the object's controller, or for an orphan all objects of
// kind Owner whose selector matches it. Owner has spec.selector; an empty selector adopts nothing.
template <class Owner, class T>
std::function<std::vector<ObjectKey>(const T&)> OwnersOf(Lister<Owner> owners) {
  return [owners = std::move(owners)](const T& object) {
    std::vector<ObjectKey> keys;
    if (GetControllerOf(object.metadata) != nullptr) {
      ObjectKey key = ControllerKey(object.metadata, Owner::kKind);
      if (!key.name.empty()) keys.push_back(std::move(key));
      return keys;
    }
    if (object.metadata.labels.empty()) return keys;
    for (const auto& owner : owners.List(object.metadata.namespace_)) {
      const auto selector = labels::Selector::FromLabelSelector(owner->spec.selector.get());
      if (selector.ok() && !selector->Empty() && selector->Matches(object.metadata.labels)) {
        keys.push_back(KeyOf(*owner));
      }
    }
    return keys;
  };
}

}  // namespace cox::controllers::pods
