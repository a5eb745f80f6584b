// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cox::apiserver {

// Whether `name` is a time zone of the IANA database: "Europe/Paris", "UTC". Names are case
// sensitive. From a table in the program, so that the answer is the same on every machine, also on
// those that have no zone files.
bool IsTimeZone(std::string_view name);

}  // namespace cox::apiserver
