// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/storage/v1.h"

namespace cox::controllers {

inline constexpr std::string_view kVacProtectionFinalizer = "kubernetes.io/vac-protection";

enum class VacProtection : uint8_t {
  kNone,            // nothing to do
  kAdd,             // the finalizer is missing
  kRemoveIfUnused,  // being deleted: the finalizer is removed when nothing uses the class
};
VacProtection DecideProtection(const storage::v1::VolumeAttributesClass& vac);

// The names of the VolumeAttributesClasses that an object uses, each once. A claim uses the class
// that it requests, the one that its volume has now, and the one that a modification in progress
// will set.
std::vector<std::string> ClassesUsedBy(const core::v1::PersistentVolume& volume);
std::vector<std::string> ClassesUsedBy(const core::v1::PersistentVolumeClaim& claim);

}  // namespace cox::controllers
