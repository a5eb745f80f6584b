// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cox::yaml {

// Whether goyaml reads the text as a time: 2001-12-14, 2001-12-14 21:59:43.10,
// 2001-12-14T21:59:43Z, 2001-12-14t21:59:43+01:00. Dates that do not exist are no times. The API
// keeps times as strings; what matters is that such strings are written in quotes.
bool IsTimestamp(std::string_view text);

}  // namespace cox::yaml
