// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cox::apiserver::openapi {

// RFC 1952, as Content-Encoding: gzip wants it. Ends the process if there is no memory.
std::string Gzip(std::string_view bytes);
// REQUIRES: `bytes` came from Gzip.
std::string Gunzip(std::string_view bytes);

}  // namespace cox::apiserver::openapi
