// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cox::apiserver {

// The hash by which clients distinguish versions of a large document: SHA-512 in upper-case hex.
std::string DocumentHash(std::string_view document);

}  // namespace cox::apiserver
