// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/admission/admission_parts.h"

namespace cox::apiserver {

std::unique_ptr<const AdmissionPlugin> NewPodTolerationRestriction(const AdmissionParts& parts);

// Errors: BadRequest if the configuration of the plugin is invalid.
Status CheckPodTolerationRestrictionConfig(const Value& config);

}  // namespace cox::apiserver
