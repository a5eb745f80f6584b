// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cox::yaml {

// Whether goyaml parses the text as a timestamp: 2001-12-14, 2001-12-14 21:59:43.10,
// 2001-12-14T21:59:43Z, 2001-12-14t21:59:43+01:00. Dates that do not exist are not timestamps. The
// API keeps timestamps as strings, but such strings must be quoted in output.
bool IsTimestamp(std::string_view text);

}  // namespace cox::yaml
