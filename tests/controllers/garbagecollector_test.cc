// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/garbagecollector/garbage_collector.h"

#include "api/events/v1.h"
#include "api/rbac/v1.h"
#include "coxswain/owner.h"
#include "harness.h"

namespace cox::controllers {
namespace {

using core::v1::ConfigMap;
using core::v1::Secret;
using rbac::v1::ClusterRole;
using testkit::WaitFor;
using testkit::WaitForDeleted;

class GarbageCollectorTest : public ControllerTest {
 protected:
  static meta::v1::OwnerReference RefTo(const ConfigMap& owner, bool blocks = false) {
    return {.apiVersion = "v1",
            .kind = "ConfigMap",
            .name = owner.metadata.name,
            .uid = owner.metadata.uid,
            .blockOwnerDeletion = blocks};
  }
  ConfigMap CreateMap(const std::string& name, List<meta::v1::OwnerReference> owners = {},
                      List<std::string> finalizers = {}) {
    ConfigMap map;
    map.metadata = {.name = name, .namespace_ = "default"};
    map.metadata.ownerReferences = std::move(owners);
    map.metadata.finalizers = std::move(finalizers);
    return Create(std::move(map));
  }
  Status Delete(const std::string& name, Propagation propagation) {
    return client().Delete<ConfigMap>(*ctx, {"default", name}, {.propagation = propagation});
  }
  Status WaitGone(const std::string& name) {
    return WaitForDeleted<ConfigMap>(*ctx, client(), {"default", name});
  }
  Result<ConfigMap> WaitOwners(const std::string& name, size_t owners) {
    return WaitFor<ConfigMap>(*ctx, client(), {"default", name}, [owners](const ConfigMap& map) {
      return map.metadata.ownerReferences.size() == owners;
    });
  }
  void RemoveFinalizers(const std::string& name) {
    const auto patched = client().PatchObject<ConfigMap>(
        *ctx, {"default", name}, Patch::Merge(R"({"metadata":{"finalizers":null}})"));
    EXPECT_TRUE(patched.ok()) << patched.status().ToString();
  }
};

TEST_F(GarbageCollectorTest, BackgroundDeletionDeletesDependents) {
  Start({AddGarbageCollector});
  const ConfigMap owner = CreateMap("owner");
  const ConfigMap child = CreateMap("child", {RefTo(owner)});
  CreateMap("grandchild", {RefTo(child)});
  CreateMap("stranger");
  ASSERT_TRUE(Delete("owner", Propagation::kBackground).ok());
  EXPECT_TRUE(WaitGone("child").ok());
  EXPECT_TRUE(WaitGone("grandchild").ok());
  EXPECT_TRUE(Exists<ConfigMap>({"default", "stranger"}));
}

TEST_F(GarbageCollectorTest, OwnersOfKindsAddedLaterAreSupported) {
  clock.emplace();
  Start({AddGarbageCollector});
  ServeWidgets();
  const std::string uid = CreateWidget({"default", "owner"});
  CreateMap("child",
            {{.apiVersion = "example.com/v1", .kind = "Widget", .name = "owner", .uid = uid}});
  ASSERT_TRUE(client().Delete(*ctx, Widgets(), {"default", "owner"}).ok());
  EXPECT_TRUE(Eventually<ConfigMap>({"default", "child"},
                                    [](const ConfigMap* child) { return child == nullptr; })
                  .status()
                  .Is(Reason::kNotFound));
}

TEST_F(GarbageCollectorTest, DependentsOrphanedBeforeStartAreCollected) {
  const ConfigMap owner = CreateMap("owner");
  CreateMap("child", {RefTo(owner)});
  ASSERT_TRUE(Delete("owner", Propagation::kBackground).ok());
  // An object with the same name has another uid.
  CreateMap("owner");
  Start({AddGarbageCollector});
  EXPECT_TRUE(WaitGone("child").ok());
  EXPECT_TRUE(Exists<ConfigMap>({"default", "owner"}));
}

TEST_F(GarbageCollectorTest, OneOwnerKeepsTheObjectAndAbsentOnesAreRemoved) {
  Start({AddGarbageCollector});
  const ConfigMap one = CreateMap("one");
  const ConfigMap two = CreateMap("two");
  CreateMap("child", {RefTo(one), RefTo(two)});
  ASSERT_TRUE(Delete("one", Propagation::kBackground).ok());
  const auto child = WaitOwners("child", 1);
  ASSERT_TRUE(child.ok()) << child.status().ToString();
  EXPECT_EQ(child->metadata.ownerReferences[0].uid, two.metadata.uid);
}

TEST_F(GarbageCollectorTest, ForegroundDeletionDeletesOwnerLast) {
  Start({AddGarbageCollector});
  const ConfigMap owner = CreateMap("owner");
  CreateMap("held", {RefTo(owner, true)}, {"example.com/hold"});
  CreateMap("free", {RefTo(owner, true)});
  CreateMap("loose", {RefTo(owner, false)});
  ASSERT_TRUE(Delete("owner", Propagation::kForeground).ok());
  EXPECT_TRUE(WaitGone("free").ok());
  EXPECT_TRUE(WaitGone("loose").ok());
  EXPECT_TRUE(WaitFor<ConfigMap>(*ctx, client(), {"default", "held"}, [](const ConfigMap& map) {
                return map.metadata.deletionTimestamp.has_value();
              }).ok());
  EXPECT_TRUE(Exists<ConfigMap>({"default", "owner"})) << "it waits for what blocks it";
  RemoveFinalizers("held");
  EXPECT_TRUE(WaitGone("held").ok());
  EXPECT_TRUE(WaitGone("owner").ok());
}

TEST_F(GarbageCollectorTest, NonBlockingDependentsDoNotDelayForegroundDeletion) {
  Start({AddGarbageCollector});
  const ConfigMap owner = CreateMap("owner");
  CreateMap("held", {RefTo(owner, false)}, {"example.com/hold"});
  ASSERT_TRUE(Delete("owner", Propagation::kForeground).ok());
  EXPECT_TRUE(WaitGone("owner").ok());
  EXPECT_TRUE(Exists<ConfigMap>({"default", "held"}));
}

TEST_F(GarbageCollectorTest, CycleInForegroundDeletionIsBroken) {
  Start({AddGarbageCollector});
  ConfigMap a = CreateMap("a");
  const ConfigMap b = CreateMap("b", {RefTo(a, true)});
  a.metadata.ownerReferences = {RefTo(b, true)};
  ASSERT_TRUE(client().Update(*ctx, a).ok());
  ASSERT_TRUE(Delete("a", Propagation::kForeground).ok());
  EXPECT_TRUE(WaitGone("a").ok());
  EXPECT_TRUE(WaitGone("b").ok());
}

TEST_F(GarbageCollectorTest, OrphanedDependentsStayWithoutOwnerReference) {
  Start({AddGarbageCollector});
  const ConfigMap owner = CreateMap("owner");
  const ConfigMap other = CreateMap("other");
  CreateMap("child", {RefTo(owner), RefTo(other)});
  // The collector must have observed the child before the owner is deleted.
  const ConfigMap probe = CreateMap("probe");
  CreateMap("probed", {RefTo(probe)});
  ASSERT_TRUE(Delete("probe", Propagation::kBackground).ok());
  ASSERT_TRUE(WaitGone("probed").ok());

  ASSERT_TRUE(Delete("owner", Propagation::kOrphan).ok());
  EXPECT_TRUE(WaitGone("owner").ok());
  const auto child = WaitOwners("child", 1);
  ASSERT_TRUE(child.ok()) << child.status().ToString();
  EXPECT_EQ(child->metadata.ownerReferences[0].uid, other.metadata.uid);
}

TEST_F(GarbageCollectorTest, OwnerInOtherNamespaceIsAbsent) {
  CreateNamespace("other");
  Start({AddGarbageCollector});
  ConfigMap map;
  map.metadata = {.name = "owner", .namespace_ = "other"};
  const ConfigMap owner = Create(std::move(map));
  const ConfigMap child = CreateMap("child", {RefTo(owner)});
  EXPECT_TRUE(WaitGone("child").ok());
  EXPECT_TRUE(Exists<ConfigMap>({"other", "owner"}));
}

TEST_F(GarbageCollectorTest, ClusterScopedObjectWithNamespacedOwnerIsNotCollected) {
  Start({AddGarbageCollector});
  const ConfigMap owner = CreateMap("owner");
  ClusterRole role;
  role.metadata.name = "kept";
  role.metadata.ownerReferences = {RefTo(owner)};
  Create(std::move(role));
  ASSERT_TRUE(Delete("owner", Propagation::kBackground).ok());
  const std::string note =
      "ownerRef [v1/ConfigMap, namespace: , name: owner, uid: " + owner.metadata.uid +
      "] does not exist in namespace \"\"";
  // The event shows that the object was processed.
  auto watch = client().Watch(*ctx, Resource::Of<events::v1::Event>(),
                              {.list = {.ns = "default"}, .send_initial_events = true});
  ASSERT_TRUE(watch.ok()) << watch.status().ToString();
  bool told = false;
  while (!told) {
    const auto event = (*watch)->Next(*ctx);
    ASSERT_TRUE(event.ok()) << event.status().ToString();
    if (event->object == nullptr) continue;
    const auto* object = event->object->As<events::v1::Event>();
    told =
        object != nullptr && object->reason == "OwnerRefInvalidNamespace" && object->note == note;
  }
  EXPECT_TRUE(Exists<ClusterRole>({"", "kept"}));
}

}  // namespace
}  // namespace cox::controllers
