// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// Validation of PersistentVolumes and of their updates. Pure functions.
namespace cox::apiserver {

// The context of a PersistentVolumeSpec: an object, or inline in a VolumeAttachment, which allows
// only CSI volumes and no fields for the lifecycle of a PersistentVolume.
enum class VolumeSpecPlace { kObject, kInline };

FieldErrorList ValidatePersistentVolumeSpec(const core::v1::PersistentVolumeSpec& spec,
                                            VolumeSpecPlace place, const FieldPath& path);
FieldErrorList ValidatePersistentVolume(const core::v1::PersistentVolume& volume);
FieldErrorList ValidatePersistentVolumeUpdate(const core::v1::PersistentVolume& volume,
                                              const core::v1::PersistentVolume& old);
std::vector<std::string> WarningsForPersistentVolume(const core::v1::PersistentVolume& volume);

// Shared with claims.
FieldErrorList ValidateAccessModes(std::span<const std::string> modes, const FieldPath& path);
FieldErrorList ValidateVolumeMode(const std::optional<std::string>& mode, const FieldPath& path);
// Quantities in a status or capacity must not be negative.
FieldErrorList ValidateResourceList(const Map<Quantity>& resources, const FieldPath& path);
FieldErrorList ValidatePositiveQuantity(const Quantity& quantity, const FieldPath& path);
// A warning if the storage quantity is not an integer number of bytes.
std::vector<std::string> FractionalBytesWarning(const Map<Quantity>& resources,
                                                const FieldPath& path);
// The modes as in tables, each once: "RWO,ROX".
std::string FormatAccessModes(std::span<const std::string> modes);

// The annotation that preceded storageClassName; it takes precedence over the field.
inline constexpr std::string_view kBetaStorageClass = "volume.beta.kubernetes.io/storage-class";
std::string BetaStorageClassWarning();

}  // namespace cox::apiserver
