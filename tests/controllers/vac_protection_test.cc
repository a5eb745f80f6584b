// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/vacprotection/vac_protection_controller.h"

#include <atomic>

#include "api/storage/v1.h"
#include "controllers/lifecycle/vacprotection/decide.h"
#include "harness.h"
#include "object/owner.h"

namespace cox::controllers {
namespace {

using core::v1::PersistentVolume;
using core::v1::PersistentVolumeClaim;
using storage::v1::VolumeAttributesClass;
using testkit::WaitFor;

class VacProtectionControllerTest : public ControllerTest {
 protected:
  void CreateClass(const std::string& name) {
    VolumeAttributesClass vac;
    vac.metadata.name = name;
    vac.driverName = "csi.example.com";
    vac.parameters = {{"iops", "100"}};
    Create(vac);
  }
  static PersistentVolume MakeVolume(const std::string& name, const std::string& vac) {
    PersistentVolume volume;
    volume.metadata.name = name;
    volume.spec.capacity["storage"] = *Quantity::Parse("1Gi");
    volume.spec.accessModes = {"ReadWriteOnce"};
    volume.spec.volumeAttributesClassName = vac;
    auto& csi = volume.spec.persistentVolumeSource.csi.ensure();
    csi.driver = "csi.example.com";
    csi.volumeHandle = name;
    return volume;
  }
  static PersistentVolumeClaim MakeClaim(const std::string& name) {
    PersistentVolumeClaim claim;
    claim.metadata = {.name = name, .namespace_ = "default"};
    claim.spec.accessModes = {"ReadWriteOnce"};
    claim.spec.resources.requests["storage"] = *Quantity::Parse("1Gi");
    return claim;
  }
  PersistentVolumeClaim CreateClaim(PersistentVolumeClaim claim) {
    const core::v1::PersistentVolumeClaimStatus status = claim.status;
    PersistentVolumeClaim created = Create(std::move(claim));
    created.status = status;
    auto stored = client().UpdateStatus(*ctx, created);
    EXPECT_TRUE(stored.ok()) << stored.status().ToString();
    return stored.ok() ? *stored : created;
  }
  template <class T>
  void Delete(const ObjectKey& key) {
    const Status deleted = client().Delete<T>(*ctx, key);
    EXPECT_TRUE(deleted.ok()) << deleted.ToString();
  }
  // Deletes a volume or claim without its own protection, which has no controller yet.
  template <class T>
  void Remove(const ObjectKey& key) {
    const auto freed =
        client().PatchObject<T>(*ctx, key, Patch::Merge(R"({"metadata":{"finalizers":null}})"));
    EXPECT_TRUE(freed.ok()) << freed.status().ToString();
    Delete<T>(key);
  }
  void AwaitGone(const std::string& name) {
    const Status gone = testkit::WaitForDeleted<VolumeAttributesClass>(*ctx, client(), {"", name});
    EXPECT_TRUE(gone.ok()) << gone.ToString();
  }
  // Expects that the class, which is being deleted, stays. The controller has one worker, so that
  // it has decided on this class before it removes the finalizer of one that is deleted later.
  void ExpectStays(const std::string& name) {
    CreateClass("unused-after-" + name);
    Delete<VolumeAttributesClass>({"", "unused-after-" + name});
    AwaitGone("unused-after-" + name);
    EXPECT_TRUE(Exists<VolumeAttributesClass>({"", name})) << name;
  }
};

TEST_F(VacProtectionControllerTest, FinalizerIsAdded) {
  CreateClass("gold");
  ASSERT_TRUE(client()
                  .PatchObject<VolumeAttributesClass>(
                      *ctx, {"", "gold"},
                      Patch::Merge(R"({"metadata":{"finalizers":["example.com/other"]}})"))
                  .ok());
  Start({AddVacProtectionController});
  const auto vac = WaitFor<VolumeAttributesClass>(
      *ctx, client(), {"", "gold"}, [](const VolumeAttributesClass& now) {
        return HasFinalizer(now.metadata, kVacProtectionFinalizer);
      });
  ASSERT_TRUE(vac.ok()) << vac.status().ToString();
  EXPECT_TRUE(HasFinalizer(vac->metadata, "example.com/other"));
}

TEST_F(VacProtectionControllerTest, UnusedClassIsDeleted) {
  CreateClass("before");
  Delete<VolumeAttributesClass>({"", "before"});
  EXPECT_TRUE(Exists<VolumeAttributesClass>({"", "before"}));
  Start({AddVacProtectionController});
  AwaitGone("before");
  CreateClass("after");
  Delete<VolumeAttributesClass>({"", "after"});
  AwaitGone("after");
}

TEST_F(VacProtectionControllerTest, ClassIsKeptWhileItIsUsed) {
  Start({AddVacProtectionController});
  for (const char* name : {"of-volume", "requested", "current", "target"}) CreateClass(name);
  Create(MakeVolume("volume", "of-volume"));
  PersistentVolumeClaim claim = MakeClaim("requested");
  claim.spec.volumeAttributesClassName = "requested";
  CreateClaim(claim);
  claim = MakeClaim("current");
  claim.status.currentVolumeAttributesClassName = "current";
  CreateClaim(claim);
  claim = MakeClaim("target");
  auto& modification = claim.status.modifyVolumeStatus.ensure();
  modification.targetVolumeAttributesClassName = "target";
  modification.status = "InProgress";
  CreateClaim(claim);
  for (const char* name : {"of-volume", "requested", "current", "target"}) {
    Delete<VolumeAttributesClass>({"", name});
    ExpectStays(name);
  }
  Remove<PersistentVolume>({"", "volume"});
  AwaitGone("of-volume");
  Remove<PersistentVolumeClaim>({"default", "requested"});
  AwaitGone("requested");
  // The claim remains, but no longer uses the class.
  ASSERT_TRUE(client()
                  .PatchStatus<PersistentVolumeClaim>(
                      *ctx, {"default", "current"},
                      Patch::Merge(R"({"status":{"currentVolumeAttributesClassName":null}})"))
                  .ok());
  AwaitGone("current");
  ASSERT_TRUE(client()
                  .PatchStatus<PersistentVolumeClaim>(
                      *ctx, {"default", "target"},
                      Patch::Merge(R"({"status":{"modifyVolumeStatus":null}})"))
                  .ok());
  AwaitGone("target");
}

TEST_F(VacProtectionControllerTest, OneOfSeveralUsesKeepsTheClass) {
  Start({AddVacProtectionController});
  CreateClass("gold");
  Create(MakeVolume("first", "gold"));
  Create(MakeVolume("second", "gold"));
  Delete<VolumeAttributesClass>({"", "gold"});
  ExpectStays("gold");
  Remove<PersistentVolume>({"", "first"});
  ExpectStays("gold");
  Remove<PersistentVolume>({"", "second"});
  AwaitGone("gold");
}

TEST_F(VacProtectionControllerTest, OtherFinalizersStay) {
  Start({AddVacProtectionController});
  CreateClass("gold");
  ASSERT_TRUE(client()
                  .PatchObject<VolumeAttributesClass>(
                      *ctx, {"", "gold"},
                      Patch::Merge(R"({"metadata":{"finalizers":["example.com/other",)"
                                   R"("kubernetes.io/vac-protection"]}})"))
                  .ok());
  Delete<VolumeAttributesClass>({"", "gold"});
  const auto vac = WaitFor<VolumeAttributesClass>(
      *ctx, client(), {"", "gold"}, [](const VolumeAttributesClass& now) {
        return !HasFinalizer(now.metadata, kVacProtectionFinalizer);
      });
  ASSERT_TRUE(vac.ok()) << vac.status().ToString();
  EXPECT_TRUE(HasFinalizer(vac->metadata, "example.com/other"));
}

TEST_F(VacProtectionControllerTest, UseThatTheCacheLacksKeepsTheClass) {
  late.emplace(client());
  Start({AddVacProtectionController});
  ASSERT_TRUE(manager->cache().WaitForSync(*ctx).ok());
  late->Hold<PersistentVolume>();
  CreateClass("gold");
  Create(MakeVolume("volume", "gold"));
  Delete<VolumeAttributesClass>({"", "gold"});
  ExpectStays("gold");
  late->Resume();
  Remove<PersistentVolume>({"", "volume"});
  AwaitGone("gold");
}

TEST_F(VacProtectionControllerTest, FailedListKeepsTheClassAndIsRetried) {
  late.emplace(client());
  Start({AddVacProtectionController});
  ASSERT_TRUE(manager->cache().WaitForSync(*ctx).ok());
  testkit::Signal failed;
  std::atomic<int> failures = 0;
  late->FailListsWith([&](const Resource& resource) -> Status {
    if (resource.ToString() != Resource::Of<PersistentVolumeClaim>().ToString()) return {};
    ++failures;
    failed.Changed();
    return Status::Internal("etcdserver: request timed out");
  });
  CreateClass("gold");
  Delete<VolumeAttributesClass>({"", "gold"});
  ASSERT_TRUE(failed.Await(*ctx, [&] { return failures >= 3; }).ok());
  EXPECT_TRUE(Exists<VolumeAttributesClass>({"", "gold"}));
  late->FailListsWith(nullptr);
  AwaitGone("gold");
}

}  // namespace
}  // namespace cox::controllers
