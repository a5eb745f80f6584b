// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/revisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/workload/deployment/template_hash.h"

namespace cox::controllers::deployment {
namespace {

using apps::v1::Deployment;
using apps::v1::ReplicaSet;
using testing::ElementsAre;

core::v1::PodTemplateSpec Template(std::string image) {
  core::v1::PodTemplateSpec spec;
  core::v1::Container container;
  container.name = "c";
  container.image = std::move(image);
  spec.spec.containers.push_back(std::move(container));
  return spec;
}

SetPtr Set(std::string name, std::string image, int created, const char* revision = "") {
  ReplicaSet set;
  set.metadata.name = name;
  set.metadata.uid = std::move(name);
  set.metadata.creationTimestamp = Time::FromUnix(created);
  set.spec.replicas = 0;
  set.spec.template_ = Template(std::move(image));
  set.spec.template_.metadata.labels[kTemplateHash] = set.metadata.name;
  if (*revision != '\0') set.metadata.annotations[kRevision] = revision;
  return std::make_shared<const ReplicaSet>(std::move(set));
}

std::vector<std::string> NamesOf(const std::vector<SetPtr>& sets) {
  std::vector<std::string> names;
  for (const SetPtr& set : sets) names.push_back(set->metadata.name);
  return names;
}

TEST(RevisionsTest, LatestSetIsOldestWithMatchingTemplate) {
  Deployment deployment;
  deployment.spec.template_ = Template("b");
  const ReplicaSets sets =
      Sort(deployment, {Set("c", "c", 3), Set("b2", "b", 4), Set("b1", "b", 2), Set("a", "a", 1)});
  ASSERT_NE(sets.latest, nullptr);
  EXPECT_EQ(sets.latest->metadata.name, "b1");
  EXPECT_THAT(NamesOf(sets.old), ElementsAre("a", "c", "b2"));
  EXPECT_THAT(NamesOf(sets.All()), ElementsAre("a", "c", "b2", "b1"));
  deployment.spec.template_ = Template("new");
  EXPECT_EQ(Sort(deployment, {Set("a", "a", 1)}).latest, nullptr);
}

TEST(RevisionsTest, NextRevisionIsHighestPlusOne) {
  EXPECT_EQ(NextRevision({}), 1);
  EXPECT_EQ(NextRevision({Set("a", "a", 1, "3"), Set("b", "b", 2, "2"), Set("c", "c", 3)}), 4);
  EXPECT_EQ(NextRevision({Set("a", "a", 1, "junk")}), 1);
}

TEST(RevisionsTest, CopiesAnnotationsAndAppendsRevisionHistory) {
  Deployment deployment;
  deployment.metadata.annotations = {{"kubernetes.io/change-cause", "because"},
                                     {"kubectl.kubernetes.io/last-applied-configuration", "{}"},
                                     {std::string(kRevision), "77"}};
  ReplicaSet set;
  EXPECT_TRUE(SetLatestAnnotations(deployment, set, 1));
  EXPECT_EQ(*set.metadata.annotations.Get("kubernetes.io/change-cause"), "because");
  EXPECT_EQ(set.metadata.annotations.Get("kubectl.kubernetes.io/last-applied-configuration"),
            nullptr);
  EXPECT_EQ(*set.metadata.annotations.Get(kRevision), "1");
  EXPECT_EQ(set.metadata.annotations.Get(kRevisionHistory), nullptr);
  EXPECT_FALSE(SetLatestAnnotations(deployment, set, 1));
  EXPECT_TRUE(SetLatestAnnotations(deployment, set, 3));
  EXPECT_TRUE(SetLatestAnnotations(deployment, set, 5));
  EXPECT_EQ(*set.metadata.annotations.Get(kRevision), "5");
  EXPECT_EQ(*set.metadata.annotations.Get(kRevisionHistory), "1,3");
  EXPECT_FALSE(SetLatestAnnotations(deployment, set, 4));
}

TEST(RevisionsTest, LongHistoryDropsOldestRevisions) {
  Deployment deployment;
  ReplicaSet set;
  for (int revision = 1; revision < 1000; ++revision) {
    SetLatestAnnotations(deployment, set, revision);
  }
  const std::string& history = *set.metadata.annotations.Get(kRevisionHistory);
  EXPECT_LE(history.size(), 2000);
  EXPECT_GT(history.size(), 1990);
  EXPECT_TRUE(history.ends_with(",998"));
}

TEST(RevisionsTest, DeletesOldEmptySetsBeyondLimit) {
  Deployment deployment;
  deployment.spec.revisionHistoryLimit = 1;
  ReplicaSet busy = *Set("busy", "x", 1, "1");
  busy.status.replicas = 1;
  ReplicaSet unseen = *Set("unseen", "y", 1, "2");
  unseen.metadata.generation = 2;
  unseen.status.observedGeneration = 1;
  const std::vector<SetPtr> old = {Set("d", "d", 1, "5"), Set("c", "c", 1, "3"),
                                   Set("e", "e", 1, "4"), std::make_shared<const ReplicaSet>(busy),
                                   std::make_shared<const ReplicaSet>(unseen)};
  EXPECT_THAT(NamesOf(SetsToDelete(deployment, old)), ElementsAre("c", "e"));
  deployment.spec.revisionHistoryLimit = 10;
  EXPECT_TRUE(SetsToDelete(deployment, old).empty());
  deployment.spec.revisionHistoryLimit.reset();
  EXPECT_TRUE(SetsToDelete(deployment, old).empty());
  deployment.spec.revisionHistoryLimit = 0;
  EXPECT_THAT(NamesOf(SetsToDelete(deployment, old)), ElementsAre("c", "e", "d"));
}

}  // namespace
}  // namespace cox::controllers::deployment
