// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/core/v1.h"

// Compares and hashes the Pod templates of a deployment's ReplicaSets. Pure functions.
namespace cox::controllers::deployment {

// The label that separates the Pods of a deployment's ReplicaSets.
inline constexpr std::string_view kTemplateHash = "pod-template-hash";

// A short hash of the template, from an alphabet without vowels so that it forms no words. It must
// never change, because it is part of ReplicaSet names. `collisions` (status.collisionCount)
// changes it if a ReplicaSet with another template uses the name.
std::string HashOf(const core::v1::PodTemplateSpec& spec, std::optional<int32_t> collisions);

// Compares the templates without that label.
bool SameTemplate(const core::v1::PodTemplateSpec& a, const core::v1::PodTemplateSpec& b);

}  // namespace cox::controllers::deployment
