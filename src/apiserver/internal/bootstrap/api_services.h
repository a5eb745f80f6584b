// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/apiregistration/v1.h"

namespace cox::apiserver {

// The APIServices for all group versions that this server itself serves, so that discovery and
// aggregation treat them like others.
List<apiregistration::v1::APIService> LocalApiServices();

}  // namespace cox::apiserver
