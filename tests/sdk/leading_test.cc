// SPDX-License-Identifier: Apache-2.0
// Leader election, fencing, events, finalizers and owners with the real API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "api/coordination/v1.h"
#include "api/core/v1.h"
#include "api/events/v1.h"
#include "api/rbac/v1.h"
#include "base/scope.h"
#include "coxswain/event_recorder.h"
#include "coxswain/finalizer.h"
#include "coxswain/leader_election.h"
#include "coxswain/owner.h"
#include "testkit/test_cluster.h"

namespace cox {
namespace {

using coordination::v1::Lease;
using core::v1::ConfigMap;
using std::chrono::milliseconds;
using testing::HasSubstr;

class LeadingTest : public ::testing::Test {
 protected:
  LeadingTest() {
    Result<std::unique_ptr<testkit::TestCluster>> started = testkit::TestCluster::Start();
    EXPECT_TRUE(started.ok()) << started.status().ToString();
    if (started.ok()) cluster_ = *std::move(started);
  }
  void SetUp() override { ASSERT_NE(cluster_, nullptr); }

  Context& ctx() { return cluster_->context(); }
  Client& client() { return cluster_->client(); }
  static ConfigMap Map(std::string name) {
    ConfigMap map;
    map.metadata.namespace_ = "default";
    map.metadata.name = std::move(name);
    return map;
  }
  static LeaderElectionOptions Options(std::string identity) {
    return {.lease = {"default", "leader"},
            .identity = std::move(identity),
            .lease_duration = milliseconds(10'000),
            .renew_deadline = milliseconds(7'000),
            .retry_period = milliseconds(100)};
  }
  // Changes the holder like an administrator or another candidate.
  void GiveLeaseTo(const std::string& holder) {
    const Result<Lease> changed =
        ChangeObject<Lease>(ctx(), client(), {"default", "leader"}, [&](Lease& lease) {
          lease.spec.holderIdentity = holder;
          lease.spec.leaseTransitions = lease.spec.leaseTransitions.value_or(0) + 1;
          return Result<bool>(true);
        });
    EXPECT_TRUE(changed.ok()) << changed.status().ToString();
  }

  std::unique_ptr<testkit::TestCluster> cluster_;
};

TEST_F(LeadingTest, SecondCandidateLeadsAfterFirstReleases) {
  auto a = LeaderElector::Create(client(), Options("a"));
  auto b = LeaderElector::Create(client(), Options("b"));
  Context a_ctx = ctx().Child();
  std::atomic<bool> b_led = false;
  Scope scope(ctx(), "b");
  const Status ended = a->Run(a_ctx, [&](Context& term) {
    EXPECT_EQ(client().Get<Lease>(term, {"default", "leader"})->spec.holderIdentity, "a");
    EXPECT_TRUE(scope
                    .Go("b",
                        [&](Context& b_ctx) {
                          (void)b->Run(b_ctx, [&](Context&) {
                            EXPECT_FALSE(a->IsLeader());
                            b_led = true;
                          });
                        })
                    .ok());
    // Time for some renewals, and some attempts of the other candidate.
    (void)term.Sleep(milliseconds(500));
    while (b->leader() != "a" && !term.Done()) (void)term.Sleep(milliseconds(10));
    EXPECT_TRUE(a->IsLeader());
    EXPECT_FALSE(b_led);
    EXPECT_EQ(b->leader(), "a");
    a_ctx.Stop();
  });
  EXPECT_TRUE(ended.ok()) << ended.ToString();
  scope.Wait();
  EXPECT_TRUE(b_led);
  const Result<Lease> lease = client().Get<Lease>(ctx(), {"default", "leader"});
  EXPECT_EQ(lease->spec.leaseTransitions, 1);
  EXPECT_EQ(lease->spec.holderIdentity, "") << "given back";
  scope.Stop();
}

TEST_F(LeadingTest, ServerRejectsWritesOfEndedTerm) {
  LeaderElectionOptions slow = Options("a");
  slow.lease_duration = milliseconds(600'000);
  slow.renew_deadline = milliseconds(500'000);
  // No renewal detects it before the server rejects a write.
  slow.retry_period = milliseconds(400'000);
  auto a = LeaderElector::Create(client(), slow);
  const std::unique_ptr<Client> fenced = a->FencedClient(client());
  EXPECT_TRUE(IsDeposed(fenced->Create(ctx(), Map("early")).status()));
  const Status ended = a->Run(ctx(), [&](Context& term) {
    const Result<ConfigMap> created = fenced->Create(term, Map("counter"));
    ASSERT_TRUE(created.ok()) << created.status().ToString();
    const FencingToken token = *a->term();
    // The process has not detected it yet.
    GiveLeaseTo("b");
    const Status refused = fenced->Update(ctx(), *created).status();
    EXPECT_TRUE(IsDeposed(refused) && refused.Is(Reason::kForbidden)) << refused.ToString();
    EXPECT_THAT(refused.message(), HasSubstr("term 0 of \"a\" in Lease default/leader is over"));
    EXPECT_FALSE(a->IsLeader()) << "and now it does";
    EXPECT_TRUE(term.Done());
    // The server also rejects requests with the header that bypass the fenced client.
    const Resource maps = Resource::Of<ConfigMap>();
    Operation late{.verb = Operation::Verb::kDelete,
                   .resource = maps,
                   .key = {"default", "counter"},
                   .headers = {{std::string(kFencingHeader), token.ToString()}}};
    const Status deleted = client().Execute(ctx(), late).status();
    EXPECT_TRUE(IsDeposed(deleted) && deleted.Is(Reason::kConflict)) << deleted.ToString();
  });
  EXPECT_TRUE(IsDeposed(ended)) << ended.ToString();
  EXPECT_TRUE(client().Get<ConfigMap>(ctx(), {"default", "counter"}).ok());
}

TEST_F(LeadingTest, FencingHeaderNeedsPermissionToReadLease) {
  rbac::v1::ClusterRole role;
  role.metadata.name = "maps";
  role.rules.push_back({.verbs = {"*"}, .apiGroups = {""}, .resources = {"configmaps"}});
  ASSERT_TRUE(client().Create(ctx(), role).ok());
  rbac::v1::ClusterRoleBinding binding;
  binding.metadata.name = "maps";
  binding.roleRef = {
      .apiGroup = "rbac.authorization.k8s.io", .kind = "ClusterRole", .name = "maps"};
  binding.subjects.push_back(
      {.kind = "User", .apiGroup = "rbac.authorization.k8s.io", .name = "jane"});
  ASSERT_TRUE(client().Create(ctx(), binding).ok());
  const std::unique_ptr<Client> jane = cluster_->ClientFor("jane");
  // Roles are cached by the authorizer.
  Result<ConfigMap> created = jane->Create(ctx(), Map("m"));
  for (int i = 0; i < 500 && created.status().Is(Reason::kForbidden); ++i) {
    (void)ctx().Sleep(milliseconds(10));
    created = jane->Create(ctx(), Map("m"));
  }
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  const Resource maps = Resource::Of<ConfigMap>();
  const Status refused =
      jane->Execute(ctx(), {.verb = Operation::Verb::kDelete,
                            .resource = maps,
                            .key = {"default", "m"},
                            .headers = {{std::string(kFencingHeader), "default/leader;a;0"}}})
          .status();
  EXPECT_TRUE(refused.Is(Reason::kForbidden) && !IsDeposed(refused)) << refused.ToString();
  EXPECT_THAT(refused.message(), HasSubstr("cannot get resource \"leases\""));
}

TEST_F(LeadingTest, EventsAreStoredAndCounted) {
  const Result<ConfigMap> map = client().Create(ctx(), Map("settings"));
  ASSERT_TRUE(map.ok());
  auto recorder = EventRecorder::Create(ctx(), client(), {.controller = "example.com/test"});
  for (int i = 0; i < 3; ++i) {
    recorder->Record(*map, EventKind::kWarning, "Failed", "Syncing", "no. " + std::to_string(i));
  }
  core::v1::Namespace space;
  space.metadata.name = "default";
  recorder->Record(space, EventKind::kNormal, "Seen", "Looking", "of no namespace");
  ASSERT_TRUE(recorder->Flush(ctx()).ok());
  const Result<ObjectList<events::v1::Event>> events =
      client().List<events::v1::Event>(ctx(), {.ns = "default"});
  ASSERT_TRUE(events.ok()) << events.status().ToString();
  ASSERT_EQ(events->items.size(), 2u);
  for (const events::v1::Event& event : events->items) {
    EXPECT_EQ(event.reportingController, "example.com/test");
    if (event.regarding.kind != "ConfigMap") continue;
    EXPECT_EQ(event.regarding.uid, map->metadata.uid);
    EXPECT_EQ(event.note, "no. 0");
    ASSERT_TRUE(event.series);
    EXPECT_EQ(event.series->count, 3);
  }
}

TEST_F(LeadingTest, FinalizerKeepsObjectUntilCleanup) {
  Result<ConfigMap> map = client().Create(ctx(), Map("held"));
  ASSERT_TRUE(map.ok());
  int cleanups = 0;
  const auto finalize = [&](ConfigMap& object) {
    return Finalize(ctx(), client(), object, "example.com/held", [&](Context&) {
      ++cleanups;
      return Status();
    });
  };
  const Result<Finalization> in_place = finalize(*map);
  ASSERT_TRUE(in_place.ok()) << in_place.status().ToString();
  EXPECT_EQ(*in_place, Finalization::kActive);
  ASSERT_TRUE(client().Delete<ConfigMap>(ctx(), KeyOf(*map)).ok());
  ConfigMap stale = *map;
  map = client().Get<ConfigMap>(ctx(), KeyOf(*map));
  ASSERT_TRUE(map.ok()) << "held";
  stale.metadata.deletionTimestamp = map->metadata.deletionTimestamp;
  EXPECT_TRUE(finalize(stale).status().Is(Reason::kConflict)) << "not the newest";
  EXPECT_EQ(*finalize(*map), Finalization::kGone);
  EXPECT_EQ(cleanups, 2);
  EXPECT_TRUE(client().Get<ConfigMap>(ctx(), KeyOf(*map)).status().Is(Reason::kNotFound));
  EXPECT_EQ(*finalize(*map), Finalization::kGone) << "gone already";
}

TEST_F(LeadingTest, ControllerReferenceIsStored) {
  const Result<ConfigMap> owner = client().Create(ctx(), Map("owner"));
  ASSERT_TRUE(owner.ok());
  ConfigMap owned = Map("owned");
  ASSERT_TRUE(SetControllerReference(*owner, owned).ok());
  const Result<ConfigMap> stored = client().Create(ctx(), owned);
  ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  EXPECT_TRUE(IsControlledBy(*stored, *owner));
}

}  // namespace
}  // namespace cox
