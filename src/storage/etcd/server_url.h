// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "net/grpc/socket.h"

namespace cox::storage {

// "https://10.0.0.1:2379", "http://[::1]:2379"; without a scheme: as http, without a port: 2379.
// BadRequest if it is none.
Result<net::grpc::Endpoint> ParseServerUrl(std::string_view url);

}  // namespace cox::storage
