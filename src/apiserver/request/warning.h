// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cox::apiserver {

// Warning headers (RFC 9111, code 299): `299 - "text"`, one each. Texts too long are cut, and those
// that no longer fit together are left out, as a client's header limit is not ours to break.
std::vector<std::string> WarningHeaders(const std::vector<std::string>& texts);

}  // namespace cox::apiserver
