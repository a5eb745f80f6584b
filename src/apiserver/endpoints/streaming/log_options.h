// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"
#include "apiserver/request/request_info.h"
#include "base/result.h"

namespace cox::apiserver {

// Parses the query of a log request. Errors: BadRequest if a value cannot be parsed; Invalid, with
// upstream's texts, if a value is not allowed. `pod` is the name of the pod.
Result<core::v1::PodLogOptions> ReadLogOptions(const Query& query, const std::string& pod);

}  // namespace cox::apiserver
