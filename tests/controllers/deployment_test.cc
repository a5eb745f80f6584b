// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/deployment_controller.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <set>

#include "api/events/v1.h"
#include "base/program.h"
#include "controllers/workload/deployment/deployment_status.h"
#include "controllers/workload/deployment/revisions.h"
#include "controllers/workload/deployment/template_hash.h"
#include "object/owner.h"
#include "workload_fixture.h"

namespace cox::controllers {
namespace {

using apps::v1::Deployment;
using apps::v1::DeploymentCondition;
using apps::v1::ReplicaSet;
using core::v1::Pod;
using deployment::kRevision;
using deployment::kTemplateHash;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;

class DeploymentTest : public WorkloadTest {
 protected:
  void StartAll() { Start({AddReplicaSetController, AddDeploymentController, AddFakeKubelet}); }

  static std::string ProgressOf(const Deployment& web) {
    const auto* condition = FindCondition(web.status.conditions, "Progressing");
    return condition == nullptr ? "" : condition->reason;
  }
  // The criteria of kubectl rollout status.
  static bool IsRolledOut(const Deployment& web, int32_t count) {
    return web.status.observedGeneration == web.metadata.generation &&
           web.status.updatedReplicas == count && web.status.replicas == count &&
           web.status.availableReplicas == count;
  }
  Deployment AwaitRolledOut(int32_t count) {
    return Wait<Deployment>("web", [=](const Deployment& web) {
      return IsRolledOut(web, count) && ProgressOf(web) == deployment::kComplete;
    });
  }
  void SetImage(const std::string& image) {
    Change<Deployment>(
        "web", [&](Deployment& web) { web.spec.template_.spec.containers.at(0).image = image; });
  }
  static std::string RevisionOf(const meta::v1::ObjectMeta& meta) {
    const std::string* revision = meta.annotations.Get(kRevision);
    return revision == nullptr ? "" : *revision;
  }
};

TEST_F(DeploymentTest, CreatesReplicaSetAndPods) {
  StartAll();
  Deployment wanted = WebDeployment(3);
  wanted.metadata.annotations["kubernetes.io/change-cause"] = "first";
  const Deployment made = Create(wanted);
  const Deployment web = AwaitRolledOut(3);
  EXPECT_EQ(RevisionOf(web.metadata), "1");
  EXPECT_EQ(web.status.unavailableReplicas, 0);
  EXPECT_EQ(web.metadata.generation, made.metadata.generation);
  EXPECT_TRUE(IsTrue(web.status.conditions, "Available"));
  const auto sets = ListObjects<ReplicaSet>();
  ASSERT_EQ(sets.size(), 1);
  const ReplicaSet& set = sets[0];
  const std::string hash = *set.metadata.labels.Get(kTemplateHash);
  EXPECT_EQ(set.metadata.name, "web-" + hash);
  EXPECT_TRUE(IsControlledBy(set.metadata, web.metadata.uid));
  EXPECT_EQ(*set.spec.selector->matchLabels.Get(kTemplateHash), hash);
  EXPECT_EQ(*set.spec.template_.metadata.labels.Get(kTemplateHash), hash);
  EXPECT_EQ(RevisionOf(set.metadata), "1");
  EXPECT_EQ(*set.metadata.annotations.Get("kubernetes.io/change-cause"), "first");
  EXPECT_EQ(*set.metadata.annotations.Get(deployment::kDesiredReplicas), "3");
  EXPECT_EQ(*set.metadata.annotations.Get(deployment::kMaxReplicas), "4");
  ASSERT_TRUE(manager->events().Flush(*ctx).ok());
  std::vector<std::string> notes;
  for (const auto& event : ListObjects<events::v1::Event>()) {
    if (event.reason == "ScalingReplicaSet") notes.push_back(event.note);
  }
  EXPECT_THAT(notes, Contains("Scaled up replica set " + set.metadata.name + " from 0 to 3"));
}

// At no time are fewer Pods available than maxUnavailable permits, or more wanted than maxSurge
// permits. (Pods of a set that was scaled down may still terminate while new ones start, as in
// upstream.)
TEST_F(DeploymentTest, RollingUpdateStaysWithinBounds) {
  StartAll();
  Deployment wanted = WebDeployment(8);
  wanted.spec.strategy.type = "RollingUpdate";
  wanted.spec.strategy.rollingUpdate.ensure().maxSurge = 2;
  wanted.spec.strategy.rollingUpdate->maxUnavailable = 1;
  Create(wanted);
  AwaitRolledOut(8);
  std::atomic<size_t> fewest = SIZE_MAX;
  std::atomic<size_t> most = 0;
  const auto pods = manager->cache().ListerOf<Pod>();
  const InformerHandle watching =
      manager->cache().InformerOf<Pod>().shared().AddHandler([&](const Delta&) {
        size_t ready = 0;
        for (const auto& pod : pods.List("default")) {
          if (pods::IsActive(*pod) && pods::IsReady(*pod)) ++ready;
        }
        fewest = std::min<size_t>(fewest, ready);
      });
  const auto sets_now = manager->cache().ListerOf<ReplicaSet>();
  const InformerHandle watching_sets =
      manager->cache().InformerOf<ReplicaSet>().shared().AddHandler([&](const Delta&) {
        size_t wanted_now = 0;
        for (const auto& set : sets_now.List("default")) {
          wanted_now += static_cast<size_t>(set->spec.replicas.value_or(1));
        }
        most = std::max<size_t>(most, wanted_now);
      });
  SetImage("better");
  const Deployment web = AwaitRolledOut(8);
  EXPECT_EQ(RevisionOf(web.metadata), "2");
  EXPECT_GE(fewest, 7);
  EXPECT_LE(most, 10);
  auto sets = SetsByImage();
  EXPECT_EQ(sets["better"].spec.replicas, 8);
  EXPECT_EQ(sets["good"].spec.replicas, 0);
  EXPECT_EQ(RevisionOf(sets["good"].metadata), "1");
}

TEST_F(DeploymentTest, RollbackReusesOldSetWithNewRevision) {
  StartAll();
  Create(WebDeployment(2));
  AwaitRolledOut(2);
  SetImage("better");
  Wait<Deployment>("web", [](const Deployment& web) {
    return IsRolledOut(web, 2) && RevisionOf(web.metadata) == "2";
  });
  SetImage("good");
  Wait<Deployment>("web", [](const Deployment& web) {
    return IsRolledOut(web, 2) && RevisionOf(web.metadata) == "3";
  });
  auto sets = SetsByImage();
  EXPECT_EQ(sets.size(), 2);
  EXPECT_EQ(RevisionOf(sets["good"].metadata), "3");
  EXPECT_EQ(*sets["good"].metadata.annotations.Get(deployment::kRevisionHistory), "1");
  EXPECT_EQ(RevisionOf(sets["better"].metadata), "2");
}

TEST_F(DeploymentTest, BadImageStallsRolloutUntilDeadline) {
  StartAll();
  Deployment wanted = WebDeployment(4);
  wanted.spec.progressDeadlineSeconds = 1;
  Create(wanted);
  AwaitRolledOut(4);
  SetImage("bad");
  // On a slow machine the deadline may pass before the rollout reaches this state.
  const auto sets = manager->cache().ListerOf<ReplicaSet>();
  const auto replicas_of = [&](const std::string& image) {
    for (const auto& set : sets.List("default")) {
      if (set->spec.template_.spec.containers.at(0).image == image) return *set->spec.replicas;
    }
    return 0;
  };
  const auto is_stuck = [&] { return replicas_of("good") == 3 && replicas_of("bad") == 2; };
  const Status waited =
      testkit::WaitForCache(*ctx, manager->cache().InformerOf<ReplicaSet>().shared(), is_stuck);
  ASSERT_TRUE(waited.ok()) << waited.ToString();
  const Deployment stuck = Wait<Deployment>(
      "web", [](const Deployment& web) { return ProgressOf(web) == deployment::kTimedOut; });
  EXPECT_TRUE(IsTrue(stuck.status.conditions, "Available"));
  EXPECT_GE(stuck.status.availableReplicas, 3);
  EXPECT_TRUE(is_stuck());
  SetImage("good");
  AwaitRolledOut(4);
  EXPECT_EQ(SetsByImage()["bad"].spec.replicas, 0);
}

TEST_F(DeploymentTest, PausedDeploymentScalesButDoesNotRollOut) {
  StartAll();
  Create(WebDeployment(2));
  AwaitRolledOut(2);
  Change<Deployment>("web", [](Deployment& web) { web.spec.paused = true; });
  Wait<Deployment>("web",
                   [](const Deployment& web) { return ProgressOf(web) == deployment::kPaused; });
  Change<Deployment>("web", [](Deployment& web) {
    web.spec.template_.spec.containers.at(0).image = "better";
    web.spec.replicas = 4;
  });
  Wait<Deployment>("web", [](const Deployment& web) {
    return web.status.observedGeneration == web.metadata.generation &&
           web.status.availableReplicas == 4 && web.status.updatedReplicas == 0;
  });
  EXPECT_EQ(ListObjects<ReplicaSet>().size(), 1);
  Change<Deployment>("web", [](Deployment& web) { web.spec.paused = false; });
  AwaitRolledOut(4);
  EXPECT_EQ(SetsByImage()["better"].spec.replicas, 4);
}

TEST_F(DeploymentTest, RecreateDoesNotOverlap) {
  StartAll();
  Deployment wanted = WebDeployment(3);
  wanted.spec.strategy.type = "Recreate";
  Create(wanted);
  AwaitRolledOut(3);
  std::atomic<bool> overlap = false;
  const auto pods = manager->cache().ListerOf<Pod>();
  const InformerHandle watching =
      manager->cache().InformerOf<Pod>().shared().AddHandler([&](const Delta&) {
        std::set<std::string> images;
        for (const auto& pod : pods.List("default")) {
          images.insert(pod->spec.containers.at(0).image);
        }
        if (images.size() > 1) overlap = true;
      });
  SetImage("better");
  AwaitRolledOut(3);
  EXPECT_FALSE(overlap);
  EXPECT_EQ(SetsByImage()["better"].spec.replicas, 3);
}

TEST_F(DeploymentTest, NameCollisionChangesTheHash) {
  ReplicaSet taken = WebReplicaSet(0);
  // The hash of the template with the server's defaults.
  StartAll();
  Deployment wanted = WebDeployment(1);
  wanted.spec.paused = true;
  const Deployment made = Create(wanted);
  taken.metadata.name = "web-" + deployment::HashOf(made.spec.template_, {});
  taken.spec.selector->matchLabels = {{"app", "other"}};
  taken.spec.template_.metadata.labels = {{"app", "other"}};
  Create(taken);
  Change<Deployment>("web", [](Deployment& web) { web.spec.paused = false; });
  const Deployment web = AwaitRolledOut(1);
  EXPECT_EQ(web.status.collisionCount, 1);
  EXPECT_EQ(ListObjects<ReplicaSet>().size(), 2);
}

TEST_F(DeploymentTest, DeletesHistoryBeyondLimit) {
  StartAll();
  Deployment wanted = WebDeployment(1);
  wanted.spec.revisionHistoryLimit = 1;
  Create(wanted);
  AwaitRolledOut(1);
  const std::string first = ListObjects<ReplicaSet>().at(0).metadata.name;
  for (const char* image : {"v2", "v3"}) {
    SetImage(image);
    Wait<Deployment>("web", [&](const Deployment& web) {
      return IsRolledOut(web, 1) && web.spec.template_.spec.containers.at(0).image == image;
    });
  }
  EXPECT_TRUE(testkit::WaitForDeleted<ReplicaSet>(*ctx, client(), {"default", first}).ok());
  EXPECT_EQ(ListObjects<ReplicaSet>().size(), 2);
}

TEST_F(DeploymentTest, AdoptsReplicaSetsWithItsTemplate) {
  ReplicaSet orphan = WebReplicaSet(2);
  orphan.metadata.labels = {{"app", "web"}};
  Create(orphan);
  StartAll();
  const Deployment web = Create(WebDeployment(2));
  AwaitRolledOut(2);
  const auto sets = ListObjects<ReplicaSet>();
  ASSERT_EQ(sets.size(), 1);
  EXPECT_TRUE(IsControlledBy(sets[0].metadata, web.metadata.uid));
  EXPECT_EQ(sets[0].metadata.name, "web");
}

// kubectl's rollout commands use the same annotations and conditions.
TEST_F(DeploymentTest, KubectlRolloutWorks) {
  if (RunProgram(*ctx, {.arguments = {"kubectl", "version", "--client"}})
          .status()
          .Is(Reason::kNotFound)) {
    GTEST_SKIP() << "kubectl is not installed";
  }
  StartCluster({.https = true});
  StartAll();
  const std::string config = testing::TempDir() + "/deployment_test.kubeconfig";
  std::ofstream(config) << cluster->kubeconfig();
  const auto kubectl = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"kubectl", "--kubeconfig", config});
    const auto result = RunProgram(*ctx, {.arguments = std::move(arguments)});
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(result.ok() ? result->exit_code : -1, 0);
    return result.ok() ? result->output : "";
  };
  const auto await = [&] {
    EXPECT_THAT(kubectl({"rollout", "status", "deployment/web", "--timeout=60s"}),
                HasSubstr("deployment \"web\" successfully rolled out"));
  };
  kubectl({"create", "deployment", "web", "--image=good", "--replicas=3"});
  await();
  kubectl({"set", "image", "deployment/web", "good=better"});
  await();
  EXPECT_THAT(kubectl({"rollout", "history", "deployment/web"}), ContainsRegex("1 .*\n2 "));
  EXPECT_THAT(kubectl({"rollout", "history", "deployment/web", "--revision=1"}),
              ContainsRegex("Image:[ \t]*good"));
  kubectl({"rollout", "undo", "deployment/web"});
  await();
  EXPECT_EQ(SetsByImage()["good"].spec.replicas, 3);
  kubectl({"rollout", "pause", "deployment/web"});
  kubectl({"set", "image", "deployment/web", "good=third"});
  EXPECT_EQ(SetsByImage().count("third"), 0);
  kubectl({"rollout", "resume", "deployment/web"});
  await();
  EXPECT_EQ(SetsByImage()["third"].spec.replicas, 3);
  kubectl({"rollout", "restart", "deployment/web"});
  await();
  EXPECT_EQ(ListObjects<ReplicaSet>().size(), 4);
  EXPECT_THAT(kubectl({"rollout", "history", "deployment/web"}), ContainsRegex("\n5 "));
}

// Measures the creation of a large deployment: run manually, with --gtest_also_run_disabled_tests.
TEST_F(DeploymentTest, DISABLED_TwoThousandPods) {
  for (const auto storage : {testkit::TestClusterOptions::Storage::kMemory,
                             testkit::TestClusterOptions::Storage::kEtcd}) {
    StartCluster({.storage = storage});
    Start({AddReplicaSetController, AddDeploymentController});
    const auto begin = cluster->clock().Monotonic();
    Create(WebDeployment(2000));
    Wait<Deployment>("web", [](const Deployment& web) { return web.status.replicas == 2000; });
    const std::chrono::duration<double> took = cluster->clock().Monotonic() - begin;
    std::cout << (storage == testkit::TestClusterOptions::Storage::kMemory ? "memory" : "etcd")
              << ": " << took.count() << " s, " << 2000 / took.count() << " Pods/s\n";
  }
}

}  // namespace
}  // namespace cox::controllers
