// SPDX-License-Identifier: Apache-2.0
#include "sdk/controller/keys_of.h"

#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"

namespace cox::sdk {
namespace {

using Keys = std::vector<std::string>;

Keys KeysFor(const KeysOf& keys, const Delta& delta) {
  Keys found;
  keys(delta, [&](const ObjectKey& key) { found.push_back(key.ToString()); });
  return found;
}

meta::v1::OwnerReference Owner(std::string api_version, std::string kind, std::string name,
                               bool controller = true) {
  meta::v1::OwnerReference owner;
  owner.apiVersion = std::move(api_version);
  owner.kind = std::move(kind);
  owner.name = std::move(name);
  owner.controller = controller;
  return owner;
}

ObjectPtr PodOf(List<meta::v1::OwnerReference> owners) {
  core::v1::Pod pod;
  pod.metadata.namespace_ = "default";
  pod.metadata.name = "pod";
  pod.metadata.ownerReferences = std::move(owners);
  return std::make_shared<const Object>(Object::Of(pod));
}

TEST(KeysOfTest, OwnerIsMatchedByGroupAndKindInAnyVersion) {
  const KeysOf owner = OwnerKey(Resource::Of<apps::v1::ReplicaSet>());
  const auto keys = [&](List<meta::v1::OwnerReference> owners) {
    return KeysFor(owner, {.before = nullptr, .after = PodOf(std::move(owners))});
  };
  EXPECT_EQ(keys({Owner("apps/v1", "ReplicaSet", "web")}), (Keys{"default/web"}));
  EXPECT_EQ(keys({Owner("apps/v1beta2", "ReplicaSet", "web")}), (Keys{"default/web"}));
  EXPECT_EQ(keys({Owner("v1", "ReplicaSet", "web")}), Keys{});
  EXPECT_EQ(keys({Owner("apps/v1", "Deployment", "web")}), Keys{});
  EXPECT_EQ(keys({Owner("apps/v1", "ReplicaSet", "web", false)}), Keys{});
  EXPECT_EQ(keys({}), Keys{});
}

TEST(KeysOfTest, ClusterScopedOwnerHasNoNamespaceInItsKey) {
  const KeysOf owner = OwnerKey(Resource::Of<core::v1::Node>());
  EXPECT_EQ(KeysFor(owner, {.before = nullptr, .after = PodOf({Owner("v1", "Node", "n1")})}),
            (Keys{"n1"}));
}

TEST(KeysOfTest, BothStatesOfAnUpdateCount) {
  const Delta moved{.type = Delta::Type::kUpdated,
                    .before = PodOf({Owner("apps/v1", "ReplicaSet", "old")}),
                    .after = PodOf({Owner("apps/v1", "ReplicaSet", "new")})};
  EXPECT_EQ(KeysFor(OwnerKey(Resource::Of<apps::v1::ReplicaSet>()), moved),
            (Keys{"default/old", "default/new"}));
  const MapFunction owners = [](const Object& object) {
    return std::vector<ObjectKey>{{"mapped", object.object_meta()->ownerReferences[0].name}};
  };
  EXPECT_EQ(KeysFor(MappedKeys(owners), moved), (Keys{"mapped/old", "mapped/new"}));
  EXPECT_EQ(KeysFor(OwnKey(), moved), (Keys{"default/pod"}));
}

TEST(KeysOfTest, ReadsDynamicObjects) {
  const auto object = std::make_shared<const Object>(
      GroupVersionKind{"example.com", "v1", "Backup"}, types::kAny,
      Value::MakeObject(
          {{"metadata", Value::MakeObject({{"name", "b"},
                                           {"namespace", "default"},
                                           {"ownerReferences", Value::MakeArray({Value::MakeObject(
                                                                   {{"apiVersion", "apps/v1"},
                                                                    {"kind", "ReplicaSet"},
                                                                    {"name", "web"},
                                                                    {"controller", true}})})}})}}));
  const Delta delta{.before = nullptr, .after = object};
  EXPECT_EQ(KeysFor(OwnerKey(Resource::Of<apps::v1::ReplicaSet>()), delta), (Keys{"default/web"}));
  EXPECT_EQ(KeysFor(OwnKey(), delta), (Keys{"default/b"}));
}

}  // namespace
}  // namespace cox::sdk
