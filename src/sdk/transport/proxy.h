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

// The proxy for requests to `server`: `proxy_url` if set; otherwise HTTPS_PROXY (HTTP_PROXY for an
// http server), also in lower case, unless NO_PROXY excludes the server or it is a loopback
// address; otherwise none.
//
// Errors: BadRequest with the source of the URL, without its password.
Result<std::optional<net::Proxy>> ProxyFor(const std::string& proxy_url, const net::Url& server,
                                           const Environment& environment);

// True if a NO_PROXY list contains host:port: "*", ".example.com" (subdomains), "example.com" (the
// domain and its subdomains), "10.0.0.1", "10.0.0.0/8". All but networks may have ":port".
bool IsExcluded(std::string_view list, std::string_view host, uint16_t port);

}  // namespace cox::sdk
