// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Keeps the finalizer kubernetes.io/vac-protection on VolumeAttributesClasses, and removes it from
// a class that is being deleted when no PersistentVolume and no PersistentVolumeClaim uses it.
Status AddVacProtectionController(Manager& manager);

}  // namespace cox::controllers
