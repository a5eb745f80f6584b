// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/vacprotection/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::controllers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(VacProtectionTest, DecidesByDeletionAndFinalizer) {
  storage::v1::VolumeAttributesClass vac;
  EXPECT_EQ(DecideProtection(vac), VacProtection::kAdd);
  vac.metadata.finalizers = {"example.com/other"};
  EXPECT_EQ(DecideProtection(vac), VacProtection::kAdd);
  vac.metadata.deletionTimestamp = Time::FromUnix(1);
  EXPECT_EQ(DecideProtection(vac), VacProtection::kNone);
  vac.metadata.finalizers.push_back(std::string(kVacProtectionFinalizer));
  EXPECT_EQ(DecideProtection(vac), VacProtection::kRemoveIfUnused);
  vac.metadata.deletionTimestamp.reset();
  EXPECT_EQ(DecideProtection(vac), VacProtection::kNone);
}

TEST(VacProtectionTest, VolumeUsesTheClassOfItsSpec) {
  core::v1::PersistentVolume volume;
  EXPECT_THAT(ClassesUsedBy(volume), IsEmpty());
  volume.spec.volumeAttributesClassName = "";
  EXPECT_THAT(ClassesUsedBy(volume), IsEmpty());
  volume.spec.volumeAttributesClassName = "gold";
  EXPECT_THAT(ClassesUsedBy(volume), ElementsAre("gold"));
}

TEST(VacProtectionTest, ClaimUsesRequestedCurrentAndTargetClass) {
  core::v1::PersistentVolumeClaim claim;
  EXPECT_THAT(ClassesUsedBy(claim), IsEmpty());
  claim.spec.volumeAttributesClassName = "gold";
  EXPECT_THAT(ClassesUsedBy(claim), ElementsAre("gold"));
  claim.status.currentVolumeAttributesClassName = "silver";
  EXPECT_THAT(ClassesUsedBy(claim), ElementsAre("gold", "silver"));
  claim.status.modifyVolumeStatus.ensure().targetVolumeAttributesClassName = "bronze";
  EXPECT_THAT(ClassesUsedBy(claim), ElementsAre("gold", "silver", "bronze"));
  claim.status.modifyVolumeStatus->targetVolumeAttributesClassName = "gold";
  EXPECT_THAT(ClassesUsedBy(claim), ElementsAre("gold", "silver"));
  claim.spec.volumeAttributesClassName.reset();
  claim.status.currentVolumeAttributesClassName = "";
  EXPECT_THAT(ClassesUsedBy(claim), ElementsAre("gold"));
}

}  // namespace
}  // namespace cox::controllers
