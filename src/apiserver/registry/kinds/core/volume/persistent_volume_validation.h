// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "object/validation/field_error.h"

// What PersistentVolumes may hold and what may change. Pure functions.
namespace cox::apiserver {

// Where a PersistentVolumeSpec stands: in its object, or inline in a VolumeAttachment, which takes
// CSI volumes only and nothing that belongs to the life of a PersistentVolume.
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
// Quantities of resources that a status or a capacity lists: none may be negative.
FieldErrorList ValidateResourceList(const Map<Quantity>& resources, const FieldPath& path);
FieldErrorList ValidatePositiveQuantity(const Quantity& quantity, const FieldPath& path);
// A warning for an amount of storage that is no whole number of bytes; else none.
std::vector<std::string> FractionalBytesWarning(const Map<Quantity>& resources,
                                                const FieldPath& path);
// "RWO,ROX": modes as columns show them, each once.
std::string FormatAccessModes(std::span<const std::string> modes);

// Where the class was named before there was a field for it; where both are, this wins.
inline constexpr std::string_view kBetaStorageClass = "volume.beta.kubernetes.io/storage-class";
std::string BetaStorageClassWarning();

}  // namespace cox::apiserver
