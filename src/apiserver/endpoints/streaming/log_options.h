// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"
#include "apiserver/request/request_info.h"
#include "base/result.h"

namespace cox::apiserver {

// What a request for a log asks for. BadRequest for what cannot be read; Invalid, with upstream's
// words, for what makes no sense. `pod` is its name.
Result<core::v1::PodLogOptions> ReadLogOptions(const Query& query, const std::string& pod);

}  // namespace cox::apiserver
