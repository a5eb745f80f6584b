// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/garbagecollector/decide.h"

#include <gtest/gtest.h>

#include "controllers/lifecycle/garbagecollector/identity.h"
#include "controllers/lifecycle/garbagecollector/kinds.h"

namespace cox::controllers::gc {
namespace {

using meta::v1::ObjectMeta;
using What = Action::What;

constexpr OwnerState kSolid = OwnerState::kSolid;
constexpr OwnerState kAbsent = OwnerState::kAbsent;
constexpr OwnerState kWaiting = OwnerState::kWaiting;

TEST(DecideTest, DecidesByOwnerStatesAndFinalizers) {
  const struct {
    const char* what;
    std::vector<OwnerState> owners;  // their uids are "0", "1", ...
    bool has_dependents;
    std::vector<std::string> finalizers;
    Action action;
  } kCases[] = {
      {"nobody owns it", {}, true, {}, {}},
      {"its owners are there", {kSolid, kSolid}, false, {}, {}},
      {"one is there",
       {kAbsent, kSolid, kWaiting},
       true,
       {},
       {.what = What::kRemoveOwners, .owners = {"0", "2"}}},
      {"all are gone", {kAbsent, kAbsent}, true, {}, {.what = What::kDelete}},
      {"its owner waits for it", {kWaiting}, false, {}, {.what = What::kDelete}},
      {"its owner waits for it and for what it owns",
       {kWaiting, kAbsent},
       true,
       {},
       {.what = What::kDelete, .propagation = Propagation::kForeground}},
      {"its dependents are to stay",
       {kAbsent},
       true,
       {"orphan"},
       {.what = What::kDelete, .propagation = Propagation::kOrphan}},
      {"its dependents are to go first",
       {kAbsent},
       true,
       {"x/y", "foregroundDeletion"},
       {.what = What::kDelete, .propagation = Propagation::kForeground}},
  };
  for (const auto& c : kCases) {
    std::vector<OwnerStatus> owners;
    for (const OwnerState state : c.owners)
      owners.push_back({std::to_string(owners.size()), state});
    ObjectMeta meta;
    meta.finalizers = c.finalizers;
    EXPECT_EQ(Decide(owners, meta, c.has_dependents), c.action) << c.what;
  }
}

TEST(DecideTest, PatchesContainUidPrecondition) {
  ObjectMeta meta;
  meta.uid = "u";
  meta.resourceVersion = "7";
  meta.ownerReferences = {
      {.apiVersion = "v1", .kind = "Pod", .name = "a", .uid = "1", .blockOwnerDeletion = true},
      {.apiVersion = "v1", .kind = "Pod", .name = "b", .uid = "2"}};
  EXPECT_EQ(RemoveOwners(meta, {"1"}).body,
            R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"b",)"
            R"("uid":"2"}],"resourceVersion":"7","uid":"u"}})");
  EXPECT_EQ(RemoveOwnerUnread("u", "1").body,
            R"({"metadata":{"ownerReferences":[{"$patch":"delete","uid":"1"}],"uid":"u"}})");
  EXPECT_EQ(Unblock(meta).body,
            R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","blockOwnerDeletion":false,)"
            R"("kind":"Pod","name":"a","uid":"1"},{"apiVersion":"v1","blockOwnerDeletion":false,)"
            R"("kind":"Pod","name":"b","uid":"2"}],"resourceVersion":"7","uid":"u"}})");
}

TEST(DecideTest, IdentityFormatMatchesUpstreamEvents) {
  const Identity owner{.gvk = {"apps", "v1", "ReplicaSet"}, .key = {"a", "rs"}, .uid = "7"};
  EXPECT_EQ(owner.ToString(), "[apps/v1/ReplicaSet, namespace: a, name: rs, uid: 7]");
}

ServedResource Served(const GroupVersionKind& gvk, const std::string& plural, bool preferred,
                      std::vector<std::string> verbs) {
  return {.resource = Resource::Dynamic(gvk, plural, true),
          .verbs = std::move(verbs),
          .preferred = preferred};
}

TEST(KindsTest, WatchesPreferredDeletableListableVersionsExceptEvents) {
  ServedResources served;
  const std::vector<std::string> all = {"delete", "list", "watch"};
  served.resources = {Served({"", "v1", "Pod"}, "pods", true, all),
                      Served({"", "v1", "Event"}, "events", true, all),
                      Served({"events.k8s.io", "v1", "Event"}, "events", true, all),
                      Served({"example.com", "v1", "Event"}, "events", true, all),
                      Served({"x", "v2", "Y"}, "ys", false, all),
                      Served({"x", "v1", "Z"}, "zs", true, {"delete", "list"})};
  std::string names;
  for (const Resource& resource : Watchable(served)) names += resource.ToString() + " ";
  EXPECT_EQ(names, "pods events.example.com ");
}

TEST(KindsTest, KindsOfFailedGroupsStayKnown) {
  Kinds kinds;
  ServedResources served;
  served.resources = {Served({"x", "v1", "Y"}, "ys", true, {}),
                      Served({"z", "v1", "Z"}, "zs", true, {})};
  kinds.Replace(served);
  EXPECT_TRUE(kinds.Find({"x", "v1", "Y"}).ok());
  EXPECT_FALSE(kinds.Find({"x", "v2", "Y"}).status().Is(Reason::kNotFound))
      << "that would say the object does not exist";
  served = {};
  served.failed = {{{"x", "v1"}, Status::Unavailable("away")}};
  kinds.Replace(served);
  EXPECT_TRUE(kinds.Find({"x", "v1", "Y"}).ok());
  EXPECT_FALSE(kinds.Find({"z", "v1", "Z"}).ok());
}

}  // namespace
}  // namespace cox::controllers::gc
