// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cox::apiserver {

// Whether `name` is a time zone of the IANA database: "Europe/Paris", "UTC". Names are case
// sensitive. Uses a compiled-in table, so that the result does not depend on the zone files of the
// machine.
bool IsTimeZone(std::string_view name);

}  // namespace cox::apiserver
