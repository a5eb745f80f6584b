// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/apiregistration/v1.h"

namespace cox::apiserver {

// An APIService for every group version this server serves by itself, so that discovery and
// aggregation see them like any other.
List<apiregistration::v1::APIService> LocalApiServices();

}  // namespace cox::apiserver
