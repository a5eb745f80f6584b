// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/replicaset/replicaset_controller.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "api/events/v1.h"
#include "object/owner.h"
#include "workload_fixture.h"

namespace cox::controllers {
namespace {

using apps::v1::ReplicaSet;
using core::v1::Pod;
using testing::HasSubstr;

class ReplicaSetTest : public WorkloadTest {
 protected:
  static bool IsReady(const ReplicaSet& set, int32_t count) {
    return set.status.observedGeneration == set.metadata.generation &&
           set.status.replicas == count && set.status.readyReplicas == count &&
           set.status.availableReplicas == count;
  }
  void MarkReady(Pod pod) {
    pod.status.phase = core::v1::kPodRunning;
    SetCondition(pod.status.conditions,
                 {.type = core::v1::kPodReady, .status = core::v1::kConditionTrue},
                 TimeNow(cluster->clock()));
    const auto stored = client().UpdateStatus(*ctx, std::move(pod));
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  }
  ReplicaSet AwaitReady(int32_t count) {
    return Wait<ReplicaSet>("web", [=](const ReplicaSet& set) { return IsReady(set, count); });
  }
};

TEST_F(ReplicaSetTest, KeepsTheSpecifiedNumberOfPods) {
  Start({AddReplicaSetController, AddFakeKubelet});
  const ReplicaSet set = Create(WebReplicaSet(3));
  EXPECT_EQ(AwaitReady(3).status.fullyLabeledReplicas, 3);
  List<Pod> pods = ListObjects<Pod>();
  ASSERT_EQ(pods.size(), 3);
  for (const Pod& pod : pods) {
    EXPECT_TRUE(pod.metadata.name.starts_with("web-"));
    EXPECT_TRUE(IsControlledBy(pod.metadata, set.metadata.uid));
  }
  // A deleted Pod is replaced.
  ASSERT_TRUE(client().Delete<Pod>(*ctx, KeyOf(pods[0])).ok());
  ASSERT_TRUE(testkit::WaitForDeleted<Pod>(*ctx, client(), KeyOf(pods[0])).ok());
  ASSERT_TRUE(testkit::WaitForCache(*ctx, manager->cache().InformerOf<Pod>().shared(), [&] {
                return manager->cache().ListerOf<Pod>().size() == 3;
              }).ok());
  AwaitReady(3);
  Change<ReplicaSet>("web", [](ReplicaSet& web) { web.spec.replicas = 5; });
  AwaitReady(5);
  Change<ReplicaSet>("web", [](ReplicaSet& web) { web.spec.replicas = 1; });
  AwaitReady(1);
  EXPECT_EQ(ListObjects<Pod>().size(), 1);
}

TEST_F(ReplicaSetTest, AdoptsOrphansAndReleasesMismatches) {
  Start({AddReplicaSetController, AddFakeKubelet});
  Pod orphan;
  orphan.metadata = {.name = "orphan", .namespace_ = "default", .labels = {{"app", "web"}}};
  orphan.spec = WebTemplate("good").spec;
  Create(orphan);
  const ReplicaSet set = Create(WebReplicaSet(2));
  Wait<Pod>("orphan",
            [&](const Pod& pod) { return IsControlledBy(pod.metadata, set.metadata.uid); });
  AwaitReady(2);
  EXPECT_EQ(ListObjects<Pod>().size(), 2);
  Change<Pod>("orphan", [](Pod& pod) { pod.metadata.labels["app"] = "debug"; });
  Wait<Pod>("orphan", [&](const Pod& pod) { return pod.metadata.ownerReferences.empty(); });
  ASSERT_TRUE(testkit::WaitForCache(*ctx, manager->cache().InformerOf<Pod>().shared(), [&] {
                return manager->cache().ListerOf<Pod>().size() == 3;
              }).ok());
  AwaitReady(2);
  // A later orphan exceeds the number of replicas.
  orphan.metadata.name = "late";
  Create(orphan);
  ASSERT_TRUE(testkit::WaitForCache(*ctx, manager->cache().InformerOf<Pod>().shared(), [&] {
                return manager->cache()
                           .ListerOf<Pod>()
                           .List("default", *labels::Selector::Parse("app=web"))
                           .size() == 2;
              }).ok());
  AwaitReady(2);
}

TEST_F(ReplicaSetTest, FailedCreateSetsConditionAndEvent) {
  Start({AddReplicaSetController});
  ReplicaSet set = WebReplicaSet(3);
  set.spec.template_.spec.priorityClassName = "missing";
  Create(set);
  const ReplicaSet failed =
      Wait<ReplicaSet>("web", [](const ReplicaSet& web) { return !web.status.conditions.empty(); });
  EXPECT_EQ(failed.status.conditions[0].type, "ReplicaFailure");
  EXPECT_EQ(failed.status.conditions[0].reason, "FailedCreate");
  EXPECT_THAT(failed.status.conditions[0].message, HasSubstr("missing"));
  ASSERT_TRUE(manager->events().Flush(*ctx).ok());
  const auto events = ListObjects<events::v1::Event>();
  const auto told = std::find_if(events.begin(), events.end(), [](const events::v1::Event& event) {
    return event.reason == "FailedCreate" && event.regarding.kind == "ReplicaSet";
  });
  ASSERT_NE(told, events.end());
  EXPECT_THAT(told->note, HasSubstr("Error creating: pods "));
  // Recovers when the cause is removed.
  Change<ReplicaSet>("web",
                     [](ReplicaSet& web) { web.spec.template_.spec.priorityClassName = ""; });
  Wait<ReplicaSet>("web", [](const ReplicaSet& web) {
    return web.status.replicas == 3 && web.status.conditions.empty();
  });
}

TEST_F(ReplicaSetTest, PodsBecomeAvailableAfterMinReadySeconds) {
  Start({AddReplicaSetController, AddFakeKubelet});
  ReplicaSet set = WebReplicaSet(2);
  set.spec.minReadySeconds = 1;
  Create(set);
  Wait<ReplicaSet>("web", [](const ReplicaSet& web) { return web.status.readyReplicas == 2; });
  AwaitReady(2);
}

TEST_F(ReplicaSetTest, TerminatingNamespaceGetsNoPodsAndNoEvents) {
  CreateNamespace("going");
  ReplicaSet set = WebReplicaSet(0);
  set.metadata.namespace_ = "going";
  Create(set);
  Start({AddReplicaSetController});
  ASSERT_TRUE(client().Delete<core::v1::Namespace>(*ctx, {"", "going"}).ok());
  auto grown = ChangeObject<ReplicaSet>(*ctx, client(), {"going", "web"}, [](ReplicaSet& web) {
    web.spec.replicas = 2;
    return true;
  });
  ASSERT_TRUE(grown.ok()) << grown.status().ToString();
  // The set was synced without a failure.
  auto seen =
      testkit::WaitFor<ReplicaSet>(*ctx, client(), {"going", "web"}, [&](const ReplicaSet& web) {
        return web.status.observedGeneration == grown->metadata.generation;
      });
  ASSERT_TRUE(seen.ok());
  EXPECT_TRUE(seen->status.conditions.empty());
  ASSERT_TRUE(manager->events().Flush(*ctx).ok());
  const auto events = client().List<events::v1::Event>(*ctx, {.ns = "going"});
  ASSERT_TRUE(events.ok());
  EXPECT_TRUE(events->items.empty());
}

TEST_F(ReplicaSetTest, ReadyPodListsNoOtherPods) {
  Start({AddReplicaSetController});
  Create(WebReplicaSet(100));
  Wait<ReplicaSet>("web", [](const ReplicaSet& web) { return web.status.replicas == 100; });
  const double before = Listed<Pod>();
  const List<Pod> pods = ListObjects<Pod>();
  for (int i = 0; i < 10; ++i) {
    MarkReady(pods[static_cast<size_t>(i)]);
    Wait<ReplicaSet>("web",
                     [i](const ReplicaSet& web) { return web.status.readyReplicas == i + 1; });
  }
  EXPECT_EQ(Listed<Pod>(), before);
}

TEST_F(ReplicaSetTest, StatusOfALargeSetIsWrittenOnceForManyChanges) {
  clock.emplace();
  late.emplace(client());
  Start({AddReplicaSetController});
  Create(WebReplicaSet(100));
  Wait<ReplicaSet>("web", [](const ReplicaSet& web) { return web.status.replicas == 100; });
  const auto writes = [this] { return late->Count<ReplicaSet>(Operation::Verb::kUpdate); };
  // The write is visible before it has ended.
  ASSERT_TRUE(late->Await(*ctx, [&] { return writes() > 0; }).ok());
  const size_t before = writes();
  const List<Pod> pods = ListObjects<Pod>();
  for (size_t i = 0; i < 20; ++i) {
    const double reconciles = Reconciles("replicaset-controller");
    MarkReady(pods[i]);
    AwaitReconcile("replicaset-controller", reconciles);
  }
  EXPECT_EQ(writes(), before);
  const auto some = Eventually<ReplicaSet>({"default", "web"}, [](const ReplicaSet* web) {
    return web != nullptr && web->status.readyReplicas == 20;
  });
  ASSERT_TRUE(some.ok()) << some.status().ToString();
  EXPECT_LE(writes(), before + 2);
  // The complete state is written while the clock stands still.
  for (size_t i = 20; i < 100; ++i) MarkReady(pods[i]);
  AwaitReady(100);
  EXPECT_LE(writes(), before + 4);
}

TEST_F(ReplicaSetTest, LargeSetIsCreatedInBatches) {
  Start({AddReplicaSetController, AddFakeKubelet});
  Create(WebReplicaSet(700));
  AwaitReady(700);
  EXPECT_EQ(ListObjects<Pod>().size(), 700);
  Change<ReplicaSet>("web", [](ReplicaSet& web) { web.spec.replicas = 0; });
  AwaitReady(0);
  EXPECT_EQ(ListObjects<Pod>().size(), 0);
}

}  // namespace
}  // namespace cox::controllers
