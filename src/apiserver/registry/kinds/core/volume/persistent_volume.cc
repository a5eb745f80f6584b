// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/volume/persistent_volume_validation.h"
#include "apiserver/registry/kinds/core/volume/strategy.h"
#include "apiserver/registry/store/spec_and_status.h"

namespace cox::apiserver {
namespace {

using core::v1::PersistentVolume;

class PersistentVolumeStatusStrategy final : public PlainStatusStrategy<PersistentVolume> {
 protected:
  void PrepareUpdate(const WriteContext& w, PersistentVolume& object,
                     const PersistentVolume& old) const override {
    object.spec = old.spec;
    // Set the transition time when the phase changes, unless the writer has set it.
    auto& time = object.status.lastPhaseTransitionTime;
    if (object.status.phase == old.status.phase) return;
    if (!time || time == old.status.lastPhaseTransitionTime) time = w.now;
  }
};

class PersistentVolumeStrategy final
    : public SpecAndStatusStrategy<PersistentVolume, PersistentVolumeStatusStrategy,
                                   Generation::kNone> {
 public:
  std::string_view storage_prefix() const override { return "persistentvolumes"; }
  bool ReturnsDeletedObject() const override { return true; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Capacity", .type = "string"},
        {.name = "Access Modes", .type = "string"},
        {.name = "Reclaim Policy", .type = "string"},
        {.name = "Status", .type = "string"},
        {.name = "Claim", .type = "string"},
        {.name = "StorageClass", .type = "string"},
        {.name = "VolumeAttributesClass", .type = "string"},
        {.name = "Reason", .type = "string"},
        kAgeColumn,
        {.name = "VolumeMode", .type = "string", .priority = 1},
    };
    return kColumns;
  }

 protected:
  void Default(PersistentVolume& object) const override {
    auto& spec = object.spec;
    if (spec.persistentVolumeReclaimPolicy.empty()) spec.persistentVolumeReclaimPolicy = "Retain";
    if (!spec.volumeMode) spec.volumeMode = "Filesystem";
    auto& host_path = spec.persistentVolumeSource.hostPath;
    if (host_path && !host_path->type) host_path->type = "";
    if (object.status.phase.empty()) object.status.phase = "Pending";
  }
  void PrepareCreate(const WriteContext& w, PersistentVolume& object) const override {
    object.status = {
        .phase = "Pending", .message = "", .reason = "", .lastPhaseTransitionTime = w.now};
  }
  FieldErrorList Check(const WriteContext&, const PersistentVolume& object) const override {
    return ValidatePersistentVolume(object);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const PersistentVolume& object,
                             const PersistentVolume& old) const override {
    return ValidatePersistentVolumeUpdate(object, old);
  }
  Warnings Warn(const WriteContext&, const PersistentVolume& object,
                const PersistentVolume*) const override {
    return WarningsForPersistentVolume(object);
  }
  Cells RowOf(const PersistentVolume& object, const Time& now) const override {
    const auto& spec = object.spec;
    const Quantity* capacity = spec.capacity.Get("storage");
    const std::string* beta_class = object.metadata.annotations.Get(kBetaStorageClass);
    std::string claim;
    if (spec.claimRef) claim = spec.claimRef->namespace_ + "/" + spec.claimRef->name;
    return {object.metadata.name,
            capacity != nullptr ? capacity->ToString() : "0",
            FormatAccessModes(spec.accessModes),
            spec.persistentVolumeReclaimPolicy,
            object.metadata.deletionTimestamp ? "Terminating" : object.status.phase,
            claim,
            beta_class != nullptr ? *beta_class : spec.storageClassName,
            spec.volumeAttributesClassName.value_or("<unset>"),
            object.status.reason,
            Age(object.metadata.creationTimestamp, now),
            spec.volumeMode.value_or("<unset>")};
  }
};

}  // namespace

StrategyPtr NewPersistentVolumeStrategy() { return std::make_unique<PersistentVolumeStrategy>(); }

}  // namespace cox::apiserver
