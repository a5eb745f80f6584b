// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/admission/admission_parts.h"

namespace cox::apiserver {

std::unique_ptr<const AdmissionPlugin> NewPodNodeSelector(const AdmissionParts& parts);

// BadRequest if the configuration of the plugin is wrong.
Status CheckPodNodeSelectorConfig(const Value& config);

}  // namespace cox::apiserver
