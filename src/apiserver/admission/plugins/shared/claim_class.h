// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/volume/persistent_volume_validation.h"

namespace cox::apiserver {

// The StorageClass of a claim. The legacy annotation takes precedence over the field. Returns
// nullopt if neither is set; an empty name disables dynamic provisioning.
inline std::optional<std::string> StorageClassOf(const core::v1::PersistentVolumeClaim& claim) {
  const std::string* annotated = claim.metadata.annotations.Get(kBetaStorageClass);
  return annotated != nullptr ? std::optional<std::string>(*annotated)
                              : claim.spec.storageClassName;
}

}  // namespace cox::apiserver
