// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/volume/claim_validation.h"
#include "apiserver/registry/kinds/core/volume/persistent_volume_validation.h"
#include "apiserver/registry/kinds/core/volume/strategy.h"
#include "apiserver/registry/store/spec_and_status.h"

namespace cox::apiserver {
namespace {

using core::v1::PersistentVolumeClaim;

class ClaimStatusStrategy final : public PlainStatusStrategy<PersistentVolumeClaim> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const PersistentVolumeClaim& object,
                             const PersistentVolumeClaim&) const override {
    return ValidateClaimStatusUpdate(object);
  }
};

class ClaimStrategy final
    : public SpecAndStatusStrategy<PersistentVolumeClaim, ClaimStatusStrategy, Generation::kNone> {
 public:
  std::string_view storage_prefix() const override { return "persistentvolumeclaims"; }
  bool ReturnsDeletedObject() const override { return true; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Status", .type = "string"},
        {.name = "Volume", .type = "string"},
        {.name = "Capacity", .type = "string"},
        {.name = "Access Modes", .type = "string"},
        {.name = "StorageClass", .type = "string"},
        {.name = "VolumeAttributesClass", .type = "string"},
        kAgeColumn,
        {.name = "VolumeMode", .type = "string", .priority = 1},
    };
    return kColumns;
  }

 protected:
  void Default(PersistentVolumeClaim& object) const override {
    if (!object.spec.volumeMode) object.spec.volumeMode = "Filesystem";
    if (object.status.phase.empty()) object.status.phase = "Pending";
  }
  void PrepareCreate(const WriteContext&, PersistentVolumeClaim& object) const override {
    object.status = {};
    object.status.phase = "Pending";
    NormalizeDataSources(object.spec, nullptr);
  }
  void PrepareUpdate(const WriteContext&, PersistentVolumeClaim& object,
                     const PersistentVolumeClaim& old) const override {
    object.status = old.status;
    NormalizeDataSources(object.spec, &old.spec);
  }
  FieldErrorList Check(const WriteContext&, const PersistentVolumeClaim& object) const override {
    return ValidateClaimSpec(object.spec, FieldPath("spec"));
  }
  FieldErrorList CheckUpdate(const WriteContext&, const PersistentVolumeClaim& object,
                             const PersistentVolumeClaim& old) const override {
    return ValidateClaimUpdate(object, old);
  }
  Warnings Warn(const WriteContext&, const PersistentVolumeClaim& object,
                const PersistentVolumeClaim*) const override {
    return WarningsForClaim(object);
  }
  Cells RowOf(const PersistentVolumeClaim& object, const Time& now) const override {
    // Size and modes are those of the volume, so they are empty before the claim is bound.
    std::string capacity, modes;
    if (!object.spec.volumeName.empty()) {
      const Quantity* size = object.status.capacity.Get("storage");
      capacity = size != nullptr ? size->ToString() : "0";
      modes = FormatAccessModes(object.status.accessModes);
    }
    const std::string* beta_class = object.metadata.annotations.Get(kBetaStorageClass);
    return {object.metadata.name,
            object.metadata.deletionTimestamp ? "Terminating" : object.status.phase,
            object.spec.volumeName,
            capacity,
            modes,
            beta_class != nullptr ? *beta_class : object.spec.storageClassName.value_or(""),
            object.spec.volumeAttributesClassName.value_or("<unset>"),
            Age(object.metadata.creationTimestamp, now),
            object.spec.volumeMode.value_or("<unset>")};
  }
};

}  // namespace

StrategyPtr NewPersistentVolumeClaimStrategy() { return std::make_unique<ClaimStrategy>(); }

}  // namespace cox::apiserver
