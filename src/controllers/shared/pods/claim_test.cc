// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/claim.h"

#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "controllers/shared/pods/by_controller.h"

namespace cox::controllers::pods {
namespace {

using meta::v1::ObjectMeta;

const labels::Selector kWeb = *labels::Selector::Parse("app=web");

ObjectMeta Owner() { return {.name = "web", .namespace_ = "default", .uid = "owner"}; }

ObjectMeta Owned(const char* app, const char* controller) {
  ObjectMeta meta{.name = "p", .namespace_ = "default", .uid = "p", .labels = {{"app", app}}};
  if (*controller != '\0') {
    meta.ownerReferences = {{.apiVersion = "apps/v1",
                             .kind = "ReplicaSet",
                             .name = "web",
                             .uid = controller,
                             .controller = true}};
  }
  return meta;
}

TEST(ClaimTest, AdoptsMatchingOrphansAndReleasesMismatches) {
  const struct {
    const char* app;
    const char* controller;
    bool owner_goes, object_goes;
    Claim claim;
  } kCases[] = {
      {"web", "owner", false, false, Claim::kMine},
      {"web", "owner", true, true, Claim::kMine},
      {"db", "owner", false, false, Claim::kRelease},
      {"db", "owner", true, false, Claim::kIgnore},
      {"web", "another", false, false, Claim::kIgnore},
      {"db", "another", false, false, Claim::kIgnore},
      {"web", "", false, false, Claim::kAdopt},
      {"db", "", false, false, Claim::kIgnore},
      {"web", "", true, false, Claim::kIgnore},
      {"web", "", false, true, Claim::kIgnore},
  };
  for (const auto& c : kCases) {
    ObjectMeta owner = Owner();
    ObjectMeta object = Owned(c.app, c.controller);
    if (c.owner_goes) owner.deletionTimestamp = Time::FromUnix(1);
    if (c.object_goes) object.deletionTimestamp = Time::FromUnix(1);
    EXPECT_EQ(DecideClaim(object, kWeb, owner), c.claim) << c.app << " of " << c.controller;
  }
  ObjectMeta elsewhere = Owned("web", "");
  elsewhere.namespace_ = "other";
  EXPECT_EQ(DecideClaim(elsewhere, kWeb, Owner()), Claim::kIgnore);
}

TEST(ClaimTest, OnlyLiveOwnerWithSameUidMayAdopt) {
  const KindInfo& kind = apps::v1::ReplicaSet::kKind;
  EXPECT_TRUE(MayAdopt(kind, Owner(), Owner()).ok());
  ObjectMeta anew = Owner();
  anew.uid = "anew";
  EXPECT_EQ(MayAdopt(kind, anew, Owner()).message(),
            "original ReplicaSet default/web is gone: got uid anew, wanted owner");
  ObjectMeta going = Owner();
  going.deletionTimestamp = Time::FromUnix(0);
  EXPECT_EQ(MayAdopt(kind, going, Owner()).message(),
            "default/web has just been deleted at 1970-01-01T00:00:00Z");
}

TEST(ClaimTest, PatchesContainUid) {
  EXPECT_EQ(AdoptionPatch(ControllerRef(apps::v1::ReplicaSet::kKind, Owner()), "p"),
            R"({"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",)"
            R"("name":"web","uid":"owner","controller":true,"blockOwnerDeletion":true}],)"
            R"("uid":"p"}})");
  EXPECT_EQ(ReleasePatch("owner", "p"),
            R"({"metadata":{"ownerReferences":[{"$patch":"delete","uid":"owner"}],"uid":"p"}})");
}

TEST(ClaimTest, PatchesContainFinalizer) {
  EXPECT_EQ(
      AdoptionPatch(ControllerRef(apps::v1::ReplicaSet::kKind, Owner()), "p", "example.com/f"),
      R"({"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",)"
      R"("name":"web","uid":"owner","controller":true,"blockOwnerDeletion":true}],)"
      R"("uid":"p","finalizers":["example.com/f"]}})");
  EXPECT_EQ(ReleasePatch("owner", "p", "example.com/f"),
            R"({"metadata":{"ownerReferences":[{"$patch":"delete","uid":"owner"}],"uid":"p",)"
            R"("$deleteFromPrimitiveList/finalizers":["example.com/f"]}})");
}

TEST(ByControllerTest, ControllerKeyMatchesKindAndGroup) {
  const KindInfo& kind = apps::v1::ReplicaSet::kKind;
  EXPECT_EQ(ControllerKey(Owned("web", "owner"), kind).ToString(), "default/web");
  EXPECT_EQ(ControllerKey(Owned("web", ""), kind).name, "");
  EXPECT_EQ(ControllerKey(Owned("web", "owner"), apps::v1::Deployment::kKind).name, "");
  ObjectMeta foreign = Owned("web", "owner");
  foreign.ownerReferences[0].apiVersion = "example.com/v1";
  EXPECT_EQ(ControllerKey(foreign, kind).name, "");
}

}  // namespace
}  // namespace cox::controllers::pods
