// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/garbagecollector/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::controllers::gc {
namespace {

using meta::v1::ObjectMeta;
using meta::v1::OwnerReference;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const GroupVersionKind kPod{"", "v1", "Pod"};
const GroupVersionKind kSet{"apps", "v1", "ReplicaSet"};
const Time kNow = Time::FromUnix(1'800'000'000);

// The uid is the name.
ObjectMeta Named(const std::string& name, const std::string& ns = "a") {
  ObjectMeta meta;
  meta.name = name;
  meta.namespace_ = ns;
  meta.uid = name;
  return meta;
}
OwnerReference SetRef(const std::string& name, bool blocks = false) {
  return {.apiVersion = "apps/v1",
          .kind = "ReplicaSet",
          .name = name,
          .uid = name,
          .blockOwnerDeletion = blocks};
}
ObjectMeta Owned(const std::string& name, List<OwnerReference> owners) {
  ObjectMeta meta = Named(name);
  meta.ownerReferences = std::move(owners);
  return meta;
}
ObjectMeta Deleting(ObjectMeta meta, const std::string& finalizer) {
  meta.deletionTimestamp = kNow;
  meta.finalizers = {finalizer};
  return meta;
}

class GraphTest : public testing::Test {
 protected:
  bool Settled(const std::string& uid) const {
    const auto view = graph.FindNode(uid);
    return view && view->settled;
  }
  Graph graph;
};

TEST_F(GraphTest, ObjectWithObservedOwnersIsSettled) {
  EXPECT_THAT(graph.Observe(kSet, Named("rs")).to_delete, IsEmpty());
  EXPECT_THAT(graph.Observe(kPod, Owned("p", {SetRef("rs")})).to_delete, IsEmpty());
  EXPECT_TRUE(Settled("p"));
  ASSERT_EQ(graph.DependentsOf("rs").size(), 1u);
  EXPECT_EQ(graph.DependentsOf("rs")[0].identity.key, (ObjectKey{"a", "p"}));
}

TEST_F(GraphTest, UnobservedOwnerIsVirtual) {
  EXPECT_THAT(graph.Observe(kPod, Owned("p", {SetRef("rs")})).to_delete, UnorderedElementsAre("p"));
  EXPECT_FALSE(Settled("p"));
  ASSERT_TRUE(graph.FindNode("rs"));
  EXPECT_FALSE(graph.FindNode("rs")->observed);
  EXPECT_THAT(graph.Observe(kSet, Named("rs")).to_delete, IsEmpty());
  EXPECT_TRUE(graph.FindNode("rs")->observed);
  EXPECT_TRUE(Settled("p"));
}

TEST_F(GraphTest, OwnerDeletionEnqueuesDependents) {
  graph.Observe(kSet, Named("rs"));
  graph.Observe(kPod, Owned("p", {SetRef("rs")}));
  graph.Observe(kPod, Owned("q", {SetRef("rs")}));
  EXPECT_THAT(graph.Forget("rs").to_delete, UnorderedElementsAre("p", "q"));
  EXPECT_FALSE(graph.FindNode("rs")->observed);
  EXPECT_FALSE(Settled("p"));
  graph.Forget("p");
  graph.Forget("q");
  EXPECT_EQ(graph.size(), 0u) << "virtual nodes that nobody names are gone too";
}

TEST_F(GraphTest, OwnerWithOtherCoordinatesDoesNotMatch) {
  const struct {
    const char* what;
    GroupVersionKind gvk;
    ObjectMeta owner;
  } kCases[] = {
      {"another namespace", kSet, Named("rs", "b")},
      {"another kind", {"apps", "v1", "Deployment"}, Named("rs")},
      {"another group", {"example.com", "v1", "ReplicaSet"}, Named("rs")},
  };
  for (const auto& c : kCases) {
    Graph late, early;
    late.Observe(kPod, Owned("p", {SetRef("rs")}));
    EXPECT_THAT(late.Observe(c.gvk, c.owner).to_delete, UnorderedElementsAre("p")) << c.what;
    early.Observe(c.gvk, c.owner);
    EXPECT_THAT(early.Observe(kPod, Owned("p", {SetRef("rs")})).to_delete,
                UnorderedElementsAre("p"))
        << c.what;
  }
}

TEST_F(GraphTest, OtherVersionsAndClusterScopedOwnersMatch) {
  graph.Observe({"apps", "v1beta1", "ReplicaSet"}, Named("rs", ""));
  EXPECT_THAT(graph.Observe(kPod, Owned("p", {SetRef("rs")})).to_delete, IsEmpty());
}

TEST_F(GraphTest, ForegroundDeletionEnqueuesOwnerAndDependentsOnce) {
  graph.Observe(kSet, Named("rs"));
  graph.Observe(kPod, Owned("p", {SetRef("rs", true)}));
  const ObjectMeta deleting = Deleting(Named("rs"), "foregroundDeletion");
  EXPECT_THAT(graph.Observe(kSet, deleting).to_delete, UnorderedElementsAre("rs", "p"));
  EXPECT_THAT(graph.Observe(kSet, deleting).to_delete, IsEmpty()) << "nothing new";
  EXPECT_TRUE(graph.FindNode("rs")->deleting_dependents);
  EXPECT_FALSE(Settled("p"));
  EXPECT_THAT(graph.Forget("p").to_delete, UnorderedElementsAre("rs"));
  EXPECT_FALSE(graph.FindNode("rs")->has_dependents);
}

TEST_F(GraphTest, DependentThatStopsBlockingEnqueuesOwner) {
  graph.Observe(kSet, Deleting(Named("rs"), "foregroundDeletion"));
  graph.Observe(kPod, Owned("p", {SetRef("rs", true)}));
  graph.Observe(kPod, Owned("q", {SetRef("rs", true)}));
  EXPECT_THAT(graph.Observe(kPod, Owned("p", {SetRef("rs", false)})).to_delete,
              testing::Contains("rs"));
  EXPECT_THAT(graph.Observe(kPod, Owned("q", {})).to_delete, testing::Contains("rs"));
  const auto dependents = graph.DependentsOf("rs");
  ASSERT_EQ(dependents.size(), 1u);
  EXPECT_FALSE(dependents[0].blocks);
}

TEST_F(GraphTest, OrphaningIsEnqueuedOnce) {
  graph.Observe(kSet, Named("rs"));
  graph.Observe(kPod, Owned("p", {SetRef("rs")}));
  const ObjectMeta deleting = Deleting(Named("rs"), "orphan");
  const Effects effects = graph.Observe(kSet, deleting);
  EXPECT_THAT(effects.to_orphan, UnorderedElementsAre("rs"));
  EXPECT_THAT(effects.to_delete, IsEmpty());
  EXPECT_THAT(graph.Observe(kSet, deleting).to_orphan, IsEmpty());
  EXPECT_TRUE(Settled("p")) << "it keeps its owner until that lets it go";
}

TEST_F(GraphTest, SelfOwnedObjectCanBeForgotten) {
  ObjectMeta self = Named("rs");
  self.ownerReferences = {SetRef("rs")};
  graph.Observe(kSet, self);
  EXPECT_TRUE(Settled("rs"));
  graph.Forget("rs");
  EXPECT_EQ(graph.size(), 0u);
}

TEST_F(GraphTest, DuplicateOwnerReferencesAreMerged) {
  graph.Observe(kSet, Named("rs"));
  graph.Observe(kPod, Owned("p", {SetRef("rs", false), SetRef("rs", true)}));
  const auto dependents = graph.DependentsOf("rs");
  ASSERT_EQ(dependents.size(), 1u);
  EXPECT_TRUE(dependents[0].blocks);
}

}  // namespace
}  // namespace cox::controllers::gc
