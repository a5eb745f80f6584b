// SPDX-License-Identifier: Apache-2.0
#include "sdk/controller/keys_of.h"

#include <optional>
#include <utility>

#include "api/meta/v1.h"
#include "object/owner.h"

namespace cox::sdk {
namespace {

struct Owner {
  std::string_view api_version, kind, name;
};

std::string_view TextOf(const Value& value, std::string_view member) {
  const Value* found = value.Find(member);
  return found != nullptr && found->is_string() ? std::string_view(found->as_string())
                                                : std::string_view();
}

std::optional<Owner> ControllerOf(const Object& object) {
  if (const meta::v1::ObjectMeta* meta = object.object_meta()) {
    const meta::v1::OwnerReference* owner = GetControllerOf(*meta);
    if (owner == nullptr) return {};
    return Owner{owner->apiVersion, owner->kind, owner->name};
  }
  const Value* metadata = object.is_typed() ? nullptr : object.value().Find("metadata");
  const Value* owners = metadata == nullptr ? nullptr : metadata->Find("ownerReferences");
  if (owners == nullptr || !owners->is_array()) return {};
  for (const Value& owner : owners->as_array()) {
    const Value* controls = owner.Find("controller");
    if (controls == nullptr || !controls->is_bool() || !controls->as_bool()) continue;
    return Owner{TextOf(owner, "apiVersion"), TextOf(owner, "kind"), TextOf(owner, "name")};
  }
  return {};
}

// "apps" for "apps/v1", "" for "v1".
std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

ObjectKey KeyOfObject(const Object& object) {
  if (const meta::v1::ObjectMeta* meta = object.object_meta()) {
    return {meta->namespace_, meta->name};
  }
  return HeadOf(object).key;
}

}  // namespace

KeysOf OwnKey() {
  return [](const Delta& delta, const std::function<void(ObjectKey)>& add) {
    add(KeyOfObject(*delta.object()));
  };
}

KeysOf OwnerKey(const Resource& owner) {
  return [group = owner.gvk.group, kind = owner.gvk.kind, namespaced = owner.namespaced](
             const Delta& delta, const std::function<void(ObjectKey)>& add) {
    for (const ObjectPtr& state : {delta.before, delta.after}) {
      if (state == nullptr) continue;
      const std::optional<Owner> controller = ControllerOf(*state);
      if (!controller || controller->kind != kind || GroupOf(controller->api_version) != group) {
        continue;
      }
      add({namespaced ? KeyOfObject(*state).ns : "", std::string(controller->name)});
    }
  };
}

KeysOf MappedKeys(MapFunction map) {
  return [map = std::move(map)](const Delta& delta, const std::function<void(ObjectKey)>& add) {
    for (const ObjectPtr& state : {delta.before, delta.after}) {
      if (state == nullptr) continue;
      for (ObjectKey& key : map(*state)) add(std::move(key));
    }
  };
}

}  // namespace cox::sdk
