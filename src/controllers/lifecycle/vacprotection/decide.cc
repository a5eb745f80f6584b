// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/vacprotection/decide.h"

#include <algorithm>

#include "object/owner.h"

namespace cox::controllers {
namespace {

void AddName(const std::string& name, std::vector<std::string>& names) {
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  names.push_back(name);
}

}  // namespace

VacProtection DecideProtection(const storage::v1::VolumeAttributesClass& vac) {
  const bool is_protected = HasFinalizer(vac.metadata, kVacProtectionFinalizer);
  if (vac.metadata.deletionTimestamp) {
    return is_protected ? VacProtection::kRemoveIfUnused : VacProtection::kNone;
  }
  return is_protected ? VacProtection::kNone : VacProtection::kAdd;
}

std::vector<std::string> ClassesUsedBy(const core::v1::PersistentVolume& volume) {
  std::vector<std::string> names;
  AddName(volume.spec.volumeAttributesClassName.value_or(""), names);
  return names;
}

std::vector<std::string> ClassesUsedBy(const core::v1::PersistentVolumeClaim& claim) {
  std::vector<std::string> names;
  AddName(claim.spec.volumeAttributesClassName.value_or(""), names);
  AddName(claim.status.currentVolumeAttributesClassName.value_or(""), names);
  if (const auto* modification = claim.status.modifyVolumeStatus.get()) {
    AddName(modification->targetVolumeAttributesClassName, names);
  }
  return names;
}

}  // namespace cox::controllers
