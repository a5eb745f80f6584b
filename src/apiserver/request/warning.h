// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cox::apiserver {

// Warning headers (RFC 9111, code 299): `299 - "text"`, one per text. If the texts exceed a total
// limit, each is truncated, and texts that still do not fit are omitted, because clients limit the
// size of headers.
std::vector<std::string> WarningHeaders(const std::vector<std::string>& texts);

}  // namespace cox::apiserver
