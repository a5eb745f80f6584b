// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/core/v1.h"

// Telling the Pod templates of a deployment's ReplicaSets apart. Pure functions.
namespace cox::controllers::deployment {

// The label that keeps the Pods of one ReplicaSet from those of the others.
inline constexpr std::string_view kTemplateHash = "pod-template-hash";

// A short text that differs where templates do, of letters and digits that make no words. The same
// for ever: it is part of ReplicaSets' names. `collisions` (status.collisionCount) makes it
// another, where a name is taken by a ReplicaSet of another template.
std::string HashOf(const core::v1::PodTemplateSpec& spec, std::optional<int32_t> collisions);

// Whether they are the same but for that label.
bool SameTemplate(const core::v1::PodTemplateSpec& a, const core::v1::PodTemplateSpec& b);

}  // namespace cox::controllers::deployment
