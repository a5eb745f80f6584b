// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/namespace/remains.h"

#include <gtest/gtest.h>

#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

using core::v1::NamespaceStatus;
using core::v1::Pod;
using std::chrono::seconds;

const GroupVersionResource kPods{"", "v1", "pods"};
const GroupVersionResource kDeployments{"apps", "v1", "deployments"};
const Time kNow = Time::FromUnix(1'800'000'000);

TEST(RemainsTest, CountsByResourceAndFinalizer) {
  Remains remains;
  CountIn(kPods, "a", {.items = 2, .by_finalizer = {}, .longest_grace = 30}, remains);
  CountIn(kDeployments, "a", {.items = 1, .by_finalizer = {{"x/y", 1}}}, remains);
  CountIn({"apps", "v1", "replicasets"}, "a", {}, remains);
  EXPECT_FALSE(remains.empty());
  EXPECT_TRUE(remains.status().ok()) << "both only take their time";
  EXPECT_EQ(remains.estimate, 30);
  EXPECT_EQ(remains.RequeueAfter(), seconds(16));
  EXPECT_EQ(remains.by_resource,
            (std::map<std::string, int>{{"deployments.apps", 1}, {"pods.", 2}}));
}

TEST(RemainsTest, ObjectsWithoutGraceOrFinalizersAreAnError) {
  Remains remains;
  CountIn(kDeployments, "a", {.items = 1}, remains);
  EXPECT_EQ(remains.status().message(),
            "unexpected items still remain in namespace: a for gvr: apps/v1, "
            "Resource=deployments");
}

TEST(RemainsTest, FinalizersDelayTheRequeue) {
  Remains remains;
  CountIn(kDeployments, "a", {.items = 1, .by_finalizer = {{"x/y", 1}}}, remains);
  EXPECT_EQ(remains.RequeueAfter(), seconds(8));
}

TEST(RemainsTest, RemainsWithErrorsIsNotEmpty) {
  Remains remains;
  remains.discovery_errors = {"away"};
  EXPECT_FALSE(remains.empty());
  EXPECT_FALSE(remains.status().ok());
}

TEST(RemainsTest, DeletionGracePeriodOverridesSpec) {
  Pod pod;
  pod.spec.terminationGracePeriodSeconds = 30;
  EXPECT_EQ(GraceOf(pod), 30);
  pod.metadata.deletionGracePeriodSeconds = 5;
  EXPECT_EQ(GraceOf(pod), 5);
  pod.status.phase = core::v1::kPodSucceeded;
  EXPECT_EQ(GraceOf(pod), 0);
}

std::string Text(const NamespaceStatus& status, std::string_view type) {
  const auto* condition = FindCondition(status.conditions, type);
  if (condition == nullptr) return "none";
  return condition->status + " " + condition->reason + ": " + condition->message;
}

TEST(RemainsTest, ConditionsOfEmptyNamespace) {
  NamespaceStatus status;
  EXPECT_TRUE(SetDeletionConditions({}, kNow, status));
  ASSERT_EQ(status.conditions.size(), 5u);
  EXPECT_EQ(Text(status, "NamespaceDeletionDiscoveryFailure"),
            "False ResourcesDiscovered: All resources successfully discovered");
  EXPECT_EQ(Text(status, "NamespaceDeletionGroupVersionParsingFailure"),
            "False ParsedGroupVersions: All legacy kube types successfully parsed");
  EXPECT_EQ(Text(status, "NamespaceDeletionContentFailure"),
            "False ContentDeleted: All content successfully deleted, may be waiting on "
            "finalization");
  EXPECT_EQ(Text(status, "NamespaceContentRemaining"),
            "False ContentRemoved: All content successfully removed");
  EXPECT_EQ(Text(status, "NamespaceFinalizersRemaining"),
            "False ContentHasNoFinalizers: All content-preserving finalizers finished");
  EXPECT_FALSE(SetDeletionConditions({}, kNow + Duration::Seconds(9), status)) << "nothing new";
}

TEST(RemainsTest, ConditionsReportRemainingContent) {
  Remains remains;
  remains.discovery_errors = {"b/v1: away"};
  remains.deletion_errors = {"two", "one"};
  remains.by_resource = {{"pods.", 2}, {"deployments.apps", 1}};
  remains.by_finalizer = {{"x/y", 3}};
  NamespaceStatus status;
  SetDeletionConditions({}, kNow, status);
  EXPECT_TRUE(SetDeletionConditions(remains, kNow + Duration::Seconds(9), status));
  EXPECT_EQ(status.conditions.size(), 5u);
  EXPECT_EQ(Text(status, "NamespaceDeletionDiscoveryFailure"),
            "True DiscoveryFailed: Discovery failed for some groups, 1 failing: b/v1: away");
  EXPECT_EQ(Text(status, "NamespaceDeletionContentFailure"),
            "True ContentDeletionFailed: Failed to delete all resource types, 2 remaining: one, "
            "two");
  EXPECT_EQ(Text(status, "NamespaceContentRemaining"),
            "True SomeResourcesRemain: Some resources are remaining: deployments.apps has 1 "
            "resource instances, pods. has 2 resource instances");
  EXPECT_EQ(Text(status, "NamespaceFinalizersRemaining"),
            "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: "
            "x/y in 3 resource instances");
  EXPECT_EQ(FindCondition(status.conditions, "NamespaceContentRemaining")->lastTransitionTime,
            kNow + Duration::Seconds(9));
}

}  // namespace
}  // namespace cox::controllers
