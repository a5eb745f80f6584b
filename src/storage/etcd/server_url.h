// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "net/grpc/socket.h"

namespace cox::storage {

// Parses "https://10.0.0.1:2379" or "http://[::1]:2379". The default scheme is http, the default
// port 2379. Errors: BadRequest if the URL is invalid.
Result<net::grpc::Endpoint> ParseServerUrl(std::string_view url);

}  // namespace cox::storage
