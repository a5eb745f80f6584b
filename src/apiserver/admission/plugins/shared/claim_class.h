// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/volume/persistent_volume_validation.h"

namespace cox::apiserver {

// The StorageClass a claim names, by its field or, first, by the annotation that came before it.
// None: it names no class at all; empty: it wants none.
inline std::optional<std::string> StorageClassOf(const core::v1::PersistentVolumeClaim& claim) {
  const std::string* annotated = claim.metadata.annotations.Get(kBetaStorageClass);
  return annotated != nullptr ? std::optional<std::string>(*annotated)
                              : claim.spec.storageClassName;
}

}  // namespace cox::apiserver
