// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/client.h"
#include "net/url.h"
#include "sdk/config/environment.h"

namespace cox::sdk {

// What requests to `server` go through: `proxy_url` if it is set; else what HTTPS_PROXY (for an
// http server HTTP_PROXY) says, also in lower case, unless NO_PROXY excludes the server or it is on
// the loopback; else nothing.
//
// Errors: BadRequest, naming where the URL stands and not its password.
Result<std::optional<net::Proxy>> ProxyFor(const std::string& proxy_url, const net::Url& server,
                                           const Environment& environment);

// Whether a list of NO_PROXY has host:port: "*", ".example.com" (hosts below it), "example.com"
// (also itself), "10.0.0.1", "10.0.0.0/8", each but the networks with ":port" if need be.
bool IsExcluded(std::string_view list, std::string_view host, uint16_t port);

}  // namespace cox::sdk
