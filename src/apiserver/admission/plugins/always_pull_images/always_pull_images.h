// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/admission/admission_parts.h"

namespace cox::apiserver {

std::unique_ptr<const AdmissionPlugin> NewAlwaysPullImages(const AdmissionParts& parts);

}  // namespace cox::apiserver
